"""What several back-ends share: clocks and processes."""

"""What is left of an experiment: its identity, its folder, and reading it back."""

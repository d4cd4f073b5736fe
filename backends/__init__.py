"""WHERE jobs run: one contract, a folder for each back-end, and what back-ends share."""

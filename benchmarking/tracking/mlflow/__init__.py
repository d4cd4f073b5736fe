"""MLflow: its rules for names and sizes, batches within its limits, and its client."""

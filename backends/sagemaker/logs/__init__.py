"""Reports from CloudWatch Logs."""

"""The emulator's CloudWatch Logs."""

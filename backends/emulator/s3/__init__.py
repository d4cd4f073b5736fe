"""The emulator's S3."""

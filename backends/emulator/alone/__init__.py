"""S3 without the rest of the emulator, for runs on this machine."""

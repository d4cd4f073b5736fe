"""The emulator's training jobs: requests, registry, execution."""

"""The emulator's core: clock, settings, database, event loop, and the training job with its life-cycle."""

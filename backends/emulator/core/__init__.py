"""The emulator's heart: clock, settings, database, the engine of timed events, and the state that all services share."""

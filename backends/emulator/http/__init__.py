"""The emulator's door: the HTTP server, messages, errors."""

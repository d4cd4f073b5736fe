"""Libraries that list, fetch and unpack by themselves: one module a library, each with a stream of samples."""

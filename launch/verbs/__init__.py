"""The verbs of the command line: one module each, with a `main(arguments)` that returns the exit code."""

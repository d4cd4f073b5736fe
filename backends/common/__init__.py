"""What back-ends that run processes share: clock, event loop, child processes and their output, process tree, watchdog."""

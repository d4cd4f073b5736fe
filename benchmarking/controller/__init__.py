"""The loop of one experiment, its state and journal, and the interface of methods."""

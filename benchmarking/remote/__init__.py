"""Runs whose state is kept in an object store, so that another controller, or a reader anywhere, finds it there."""

"""Tests mirror the tree; helpers are imported by their full name, `tests.backends.contract` and the like."""

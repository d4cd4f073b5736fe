"""Canaries as data, and where they are read from."""

"""Comparing what experiments came to: methods by seeds, in words that the measurements can carry."""

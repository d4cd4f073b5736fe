"""Searchers: proposals from what was measured."""

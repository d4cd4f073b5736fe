"""Finds metrics in the output of programs that print no reports."""

"""Figures as plain data, one module a figure: what a page, a picture or another program draws, with the numbers that `compare` prints."""

"""The report as one file that people open: HTML that asks nothing of any network, with its figures drawn in the browser."""

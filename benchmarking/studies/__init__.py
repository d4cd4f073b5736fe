"""A study: experiments that run as one thing, in an order and with money that are fixed before the first one begins."""

"""Runs that are launched in the cloud: how they are launched, what runs there, and how they are asked from anywhere."""

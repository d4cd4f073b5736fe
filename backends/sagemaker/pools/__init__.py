"""Instances that are kept warm, and how many jobs fit."""

"""Replays measured runs on a virtual clock."""

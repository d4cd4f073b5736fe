"""Checkpoints as training jobs write them: what is saved, where to, by which writer. Jobs import it from beside their script."""

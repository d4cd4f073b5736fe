"""How samples lie in files: one module a format."""

"""What people read at the end: the verdict in words, the table of configurations."""

"""What can be passed to a training script: read from its source, its help text, and its complaints."""

"""What a training script can be told: read from its source, its help text, and its complaints."""

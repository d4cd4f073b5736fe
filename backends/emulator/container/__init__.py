"""What a training job's program finds around it: folders, channels, environment, limits."""

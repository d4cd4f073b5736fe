"""What runs in a training job's container before, beside and after the script."""

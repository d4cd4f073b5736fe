"""What travels to a job."""

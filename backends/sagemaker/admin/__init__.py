"""What an account needs before, and what is stopped and deleted after."""

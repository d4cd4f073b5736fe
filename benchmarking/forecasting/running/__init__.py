"""What a job that runs will take, from how far it says that it is."""

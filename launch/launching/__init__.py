"""`outrider launch`: what is sent, what is refused before anything is created, and the jobs that run the study."""

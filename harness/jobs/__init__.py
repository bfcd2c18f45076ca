"""One readable paragraph a job, callable from Python."""

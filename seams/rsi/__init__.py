"""The rsi floor of the reference runtime: a loop that improves a repository, and what keeps it honest."""

"""The session floor of the reference runtime: what many turns share, keep and bring back."""

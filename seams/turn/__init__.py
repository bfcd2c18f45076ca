"""The turn floor of the reference runtime: the view is planned, the turn is spawned and reaped."""

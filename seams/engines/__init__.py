"""Engines whose behaviour is known in advance, so that a measurement knows what it has cut out or put in."""

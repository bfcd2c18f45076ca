"""Forty timed points over slices of this repository, to see how long a gate of that size takes."""

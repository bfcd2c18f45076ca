"""Probes of the turn floor."""

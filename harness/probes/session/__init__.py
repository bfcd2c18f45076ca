"""Probes of the session floor."""

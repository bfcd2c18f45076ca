"""Probes of the rsi floor."""

"""Probes of the fleet floor."""

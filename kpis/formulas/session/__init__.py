"""Formulas of the session floor."""

"""Formulas of the turn floor."""

"""Formulas of the fleet floor."""

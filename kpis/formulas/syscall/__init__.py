"""Formulas of the syscall floor."""

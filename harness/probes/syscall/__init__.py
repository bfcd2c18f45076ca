"""Probes of the syscall floor."""

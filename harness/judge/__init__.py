"""The judge: statistics on plain numbers. No file, clock, process or environment; only numpy and scipy besides."""

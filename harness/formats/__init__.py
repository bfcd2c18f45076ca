"""Recorded runs and other tools' files: bytes in, terms out. Pure: no path, no network, no text kept."""

"""Recorded runs and other tools' files: bytes in, terms out, and of a text only its length and digest."""

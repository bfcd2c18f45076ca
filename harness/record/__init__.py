"""Run files, the journal, and the store that writes them whole or not at all."""

"""The command line: parse, print, exit code. No decision is taken here."""

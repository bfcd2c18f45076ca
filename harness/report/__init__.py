"""What a person sees: tables for the terminal."""

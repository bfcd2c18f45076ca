"""The fleet floor: many sessions side by side, what they share, and who may write where."""

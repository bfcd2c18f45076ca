"""Closed forms and cost models, one room a file: plain numbers in, quantities or plain numbers out."""

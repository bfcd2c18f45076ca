"""Metrics of recorded runs over what the model was shown: one idea a module, numbers in, values with parts out."""

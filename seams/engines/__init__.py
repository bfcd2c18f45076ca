"""What completes a call or a turn in a measurement: engines with known behaviour."""

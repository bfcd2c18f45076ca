"""How a slice is measured: the clock, the worker, the machine. The worker's share is standard library only."""

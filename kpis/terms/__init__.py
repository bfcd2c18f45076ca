"""The vocabulary as types: quantities, KPIs, readings, traces.

Every other package speaks in these types. Standard library only, and nothing of ours is imported, so that a worker
can load them in a millisecond. Nothing here measures, reads or judges.
"""

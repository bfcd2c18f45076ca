"""Files that ``init`` writes into a project, as package data."""

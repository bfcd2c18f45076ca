"""The judge of single outputs and trajectories: from what the rules found to one verdict. Pure: no file, no clock."""

"""The parts of a gate: two trees, the points, the stages, the rows. ``harness.jobs.gate`` joins them."""

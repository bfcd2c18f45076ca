"""Two arms on the same cases: intervals, tallies, tables and permutations. Seeds are passed in, nothing decides."""

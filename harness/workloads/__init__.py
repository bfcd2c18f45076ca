"""The workloads that ship: authored inputs, named by their content hash."""

"""The syscall floor of the reference runtime: one tool call, decided, submitted and reaped."""

"""The subject of a gate: the code of two sides as trees on disk, and what has to be known of them before a clock runs.

Nothing here measures or judges, and nothing is written where the user works: the repository is only read.
"""

__all__ = ["SubjectError"]


class SubjectError(Exception):
    """The two sides cannot be laid out or compared; one sentence that ends with the next command to type."""

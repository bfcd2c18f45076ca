"""The workloads that ship: authored inputs, named by their content hash.

They are read like anybody's files, so that what ships is measured as a user's own recording would be; only their
source differs, which is *synthetic*. Nothing is generated here: ``ci/author_workloads.py`` is what wrote them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.formats.workload import LoadedWorkload

__all__ = ["FILES", "shipped"]

FILES = {"calls": "desk.calls.json", "session": "desk.session.jsonl"}
"""The file of each kind, beside this one."""


@cache
def shipped(kind: str) -> LoadedWorkload:
    """The workload that ships of that kind, ``calls`` or ``session``; it is read once a process.

    Raises:
        ValueError: no workload of that kind ships.
    """
    # Imported here because the parser takes longer to load than `list` may.
    from harness.formats.limits import Limits
    from harness.formats.workload import workload_from

    if kind not in FILES:
        raise ValueError(f"No workload of the kind {kind!r} ships; the kinds are {', '.join(FILES)}.")
    name = FILES[kind]
    data = (Path(__file__).parent / name).read_bytes()
    return workload_from(data, name, name, Limits(), source="synthetic")

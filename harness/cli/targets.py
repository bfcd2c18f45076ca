"""What ``--json FILE`` must not be written over: what somebody made, whether or not anything is measured from it.

A file that is there is ours to replace if it is empty or holds a result of ours. Everything else stays as it is: it
may be work that is on no record yet. Refuses to judge a pipe, a device or a folder; whoever writes says what is wrong.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["foreign"]

_MOST = 1 << 30
"""A result of ours is smaller by far; a larger file is taken for somebody's own."""


def foreign(target: str | None, name: str) -> str | None:
    """The sentence that refuses to write ``target``, None where it may be written; ``name`` is one for a new file."""
    if target in (None, "-"):
        return None
    try:
        path = Path(target)
        if not path.is_file() or path.stat().st_size == 0 or _is_ours(path):
            return None
    except (OSError, ValueError):  # a name that cannot be one: the writing says so
        return None
    return f"--json {target} would write over a file that loopladder did not write. Name a new file: --json {name}"


def _is_ours(path: Path) -> bool:
    import msgspec

    from harness.formats.limits import regular_bytes

    class Marked(msgspec.Struct):
        schema: str

    try:
        return msgspec.json.decode(regular_bytes(path, _MOST), type=Marked).schema.startswith("harness.")
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError, MemoryError):
        return False  # whatever cannot be read cannot be known for ours

"""The standard streams as a command finds them: closed, full, hung up, or in an encoding that lacks a character.

None of that may cost a measurement, end in a traceback, or let a file of ours land on a descriptor that somebody
writes to. A reader that goes away has seen enough: the command goes on to its end, and its exit code is what it would
have been. Refuses to hide that an output was lost: what cannot be written is an OSError, until somebody has told it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["lost", "note", "prepare", "say", "silence"]


class _Outlasting(io.FileIO):
    """A stream that forgets what is written once its reader has gone."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            _point_at_nothing(self.fileno())
            return super().write(data)


def _outlasting(stream: TextIO) -> TextIO:
    """``stream`` with its own descriptor, encoding and buffering, which outlasts its reader; a stand-in as it is."""
    if not isinstance(stream, io.TextIOWrapper) or isinstance(stream.buffer, io.BytesIO):
        return stream
    bare = isinstance(stream.buffer, io.RawIOBase)  # python -u
    raw = stream.buffer if bare else getattr(stream.buffer, "raw", None)
    if not isinstance(raw, io.FileIO) or isinstance(raw, _Outlasting):
        return stream
    stream.flush()
    ours = _Outlasting(raw.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        ours if bare else io.BufferedWriter(ours),  # as the interpreter itself does for -u
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def prepare() -> None:
    """Put something in the place of each closed stream, let no character be a fault, and outlast every reader.

    A closed standard output becomes one that cannot be written, so that what was printed is missed; standard error
    becomes one that forgets.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, flags)  # the lowest free descriptor, which is the one that was closed
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(handle, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - a handle; open to the end
        elif name != "stdin":
            setattr(sys, name, _outlasting(getattr(sys, name)))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # a buffer in memory holds every character
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def say(sentence: str, prefix: str = "loopladder: ") -> None:
    """Put one sentence on standard error: on one line, inert, under our own name. It never fails."""
    from harness.report.inert import inert
    from harness.report.naming import said

    with contextlib.suppress(OSError, ValueError):
        print(f"{prefix}{said(inert(sentence))}", file=sys.stderr)


def note(sentences: str, prefix: str = "loopladder: ") -> None:
    """Put a few sentences on standard error as :func:`say` does, wrapped between words at 80 columns or fewer."""
    import textwrap

    from harness.report.inert import inert
    from harness.report.naming import said
    from harness.report.width import NARROW, WHOLE_WORDS, columns

    text = f"{prefix}{said(inert(sentences))}"
    with contextlib.suppress(OSError, ValueError):
        width = min(columns(sys.stderr), NARROW)
        print(textwrap.fill(text, width, subsequent_indent="  ", **WHOLE_WORDS), file=sys.stderr)


def lost(error: OSError) -> str:
    """The sentence for an output that could not be written."""
    import errno

    if error.errno == errno.EBADF:
        return "The output could not be written: standard output is closed. Send it to a file: > FILE"
    if error.filename is not None:  # it was a file after all
        from harness.report.naming import typed

        named = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
        return f"{named} cannot be used: {error.strerror}. See what it is: ls -ld {typed(named)}"
    return f"The output could not be written: {error.strerror or error}. See where it goes: ls -l /dev/stdout"


def silence(stream: TextIO) -> None:
    """Point ``stream`` at nothing, so that the interpreter's own flush at exit does not fail again."""
    with contextlib.suppress(OSError, ValueError):
        _point_at_nothing(stream.fileno())


def _point_at_nothing(descriptor: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)

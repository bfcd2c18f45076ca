"""``python -m harness hook``: decide one call in a process of its own, from standard input to standard output.

It is what a process per call costs, so its start is measured: it imports what a decision needs and nothing else, and
reads its words without a parser. It runs no tool and keeps no state.
"""

from __future__ import annotations

import os
import sys

from seams.syscall.hook import HookInputError, chain_for, decide_line
from seams.syscall.policy import Policy, PolicyError, parse_policy
from seams.syscall.worlds import WorldError

__all__ = ["main"]

_USAGE = "[--world default|airline] [--policy FILE] < CALL.json"

_MOST = 16 * 2**20
"""Bytes of a call, and of a policy: what is longer is an endless input, since a call is some kilobytes."""


class _UsageError(ValueError):
    """The words of the command line are not understood."""


def _us() -> str:
    from harness.report.naming import named  # only here: a hook that decides does not need its name

    return f"{named()} hook"


def _read_words(argv: list[str]) -> dict[str, str]:
    known = {"--world": "default", "--policy": ""}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in known:
            raise _UsageError(f"hook does not know {word}; usage: {_us()} {_USAGE}")
        value = value if equals else next(words, "")
        if not value:
            raise _UsageError(f"{name} needs a value; usage: {_us()} {_USAGE}")
        known[name] = value
    return known


def main(argv: list[str]) -> int:
    """Print ``{"kind", "reason", "by"}`` for the call on standard input.

    2 and one sentence where it is no call, 70 where the verdict cannot be printed, 130 on Ctrl-C. Whoever acts on the
    exit code must be able to rely on this: 0 means that a verdict was written.
    """
    try:
        if argv in (["--help"], ["-h"]):
            return _put(f"usage: {_us()} {_USAGE}")
        words = _read_words(argv)
        policy = _policy(words["--policy"]) if words["--policy"] else None
        return _put(decide_line(chain_for(words["--world"], policy), _standard_input()))
    except KeyboardInterrupt:
        return 130
    except (HookInputError, PolicyError, WorldError, _UsageError) as error:
        return _refuse(f"{error} Try: {_us()} --help", 2)
    except RecursionError:
        return _refuse(f"The call on standard input is nested too deeply. Try: {_us()} --help", 2)


def _standard_input() -> bytes:
    # A closed one is None, and one that does not block yields None while nothing is there.
    if sys.stdin is None:
        raise _UsageError("There is no call, since standard input is closed.")
    try:
        text: bytes = sys.stdin.buffer.read(_MOST + 1) or b""
    except OSError as error:
        raise _UsageError(f"Standard input cannot be read: {error.strerror}.") from error
    if len(text) > _MOST:
        raise _UsageError(f"The call on standard input is longer than {_MOST:,} bytes.")
    return text


def _policy(name: str) -> Policy:
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - pathlib would cost its import
            text = file.read(_MOST + 1)
        if len(text) <= _MOST:
            return parse_policy(text.decode("utf-8"), name)
        why = f"it is longer than {_MOST:,} bytes"
    except (OSError, UnicodeDecodeError) as error:
        why = str(error)
    raise _UsageError(f"The policy file {name} cannot be read: {why}.")


def _put(line: str) -> int:
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        _silence()
        why = getattr(error, "strerror", None) or str(error)
        return _refuse(f"The verdict cannot be written: {why}. Give it a reader: {_us()} | cat", 70)
    return 0


def _silence() -> None:
    """Point standard output at nothing: what is left in it must not fail a second time, at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return


def _refuse(sentence: str, code: int) -> int:
    from harness.report.inert import inert  # only here: a hook that decides shows nothing of what it was given

    if sys.stderr is not None:  # print would take standard output instead
        try:
            print(inert(sentence), file=sys.stderr, flush=True)
        except OSError:
            return code
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

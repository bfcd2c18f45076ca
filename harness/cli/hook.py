"""``python -m harness hook``: decide one call in a process of its own, from standard input to standard output.

It is what a process per call costs, so its start is measured: it imports what a decision needs and nothing else, and
reads its words without a parser. It runs no tool and keeps no state.
"""

from __future__ import annotations

import sys

from seams.syscall.hook import HookInputError, chain_for, decide_line
from seams.syscall.policy import PolicyError, parse_policy
from seams.syscall.worlds import WorldError

__all__ = ["main"]

_USAGE = "[--world default|airline] [--policy FILE] < CALL.json"


class _UsageError(ValueError):
    """The words of the command line are not understood."""


def _us() -> str:
    from harness.report.naming import program  # only here: a hook that decides does not need its name

    return f"{program()} hook"


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
    """Print ``{"kind", "reason", "by"}`` for the call on standard input; 2 and one sentence where it is no call."""
    if argv in (["--help"], ["-h"]):
        print(f"usage: {_us()} {_USAGE}")
        return 0
    try:
        words = _read_words(argv)
        policy = None
        if words["--policy"]:
            from pathlib import Path  # only here: a hook without a policy file starts faster

            policy = parse_policy(Path(words["--policy"]).read_text(encoding="utf-8"), words["--policy"])
        line = decide_line(chain_for(words["--world"], policy), sys.stdin.buffer.read())
    except (HookInputError, PolicyError, WorldError, _UsageError) as error:
        print(f"{error} Try: {_us()} --help", file=sys.stderr)
        return 2
    except (OSError, UnicodeDecodeError) as error:
        print(f"The policy file cannot be read: {error}. Try: {_us()} --help", file=sys.stderr)
        return 2
    print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

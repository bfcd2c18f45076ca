"""Whether a charge is one that a loop can be told: looked at before anything else, so that no wrong cause is named.

What the repository, the reference and the branch come to is asked of git later; this looks at the charge alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from seams.contract.rsi_loop import Charge
from seams.rsi.changes import encodes
from seams.rsi.errors import LoopError

__all__ = ["LONGEST_S", "require_sound"]

LONGEST_S = 1_000_000.0
"""Seconds that a command may be given, some eleven days: what a system can wait for ends a little beyond."""

_NEXT = "See what a loop is told: python -c 'import seams.contract.rsi_loop as it; help(it.Charge)'"


def require_sound(charge: Charge) -> None:
    """Refuse a charge that no loop could keep to.

    Raises:
        LoopError: with the first fault.
    """
    for fault in _faults(charge):
        raise LoopError(f"{fault}. {_NEXT}")


def _faults(charge: object) -> Iterator[str]:
    if not isinstance(charge, Charge):
        yield f"What the loop is told is {type(charge).__name__}, and no Charge"
        return
    for name in ("repository", "journal"):
        place = getattr(charge, name)
        if not isinstance(place, Path) or not _word(str(place)):
            yield f"The charge's {name} is {place!r:.80}, which is no Path that a file can have"
    for name in ("reference", "branch"):
        if not isinstance(getattr(charge, name), str) or not encodes(getattr(charge, name)):
            yield f"The charge's {name} is {getattr(charge, name)!r:.80}, which is no text that git could be given"
    named: object = charge.metric_name
    if not isinstance(named, str) or not named.strip() or not named.isprintable():
        yield f"The charge's metric_name is {named!r:.80}, which is no text that can stand in the message of a commit"
    if not _words(charge.measure):
        yield f"The charge's measure is {charge.measure!r:.80}, which is no list of the words of a command"
    elif not charge.measure:
        yield "The charge's measure is empty, so nothing could be measured"
    if not _commands(charge.suite):
        yield f"The charge's suite is {charge.suite!r:.80}, which is no list of commands, each a list of its words"
    elif not any(charge.suite):
        yield "The charge's suite has no command, so nothing could show that a change breaks something"
    limit: object = charge.limit_s
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit <= LONGEST_S:
        yield f"The charge's limit_s is {limit!r:.80}, which is no number of seconds above 0, up to {LONGEST_S:,.0f}"
    if type(charge.k) is not int or charge.k < 0:
        yield f"The charge's k is {charge.k!r:.80}, which is no whole number from 0 on"
    if type(charge.max_cycles) is not int or charge.max_cycles < 0:
        yield f"The charge's max_cycles is {charge.max_cycles!r:.80}, which is no whole number from 0 on"
    better: object = charge.lower_better
    if not isinstance(better, bool):
        yield f"The charge's lower_better is {better!r:.80}, which is neither True nor False"
    if not _variables(charge.environment):
        yield "The charge's environment is no mapping of names of variables to text"


def _words(command: object) -> bool:
    """Whether it is a list of words: a text alone would be taken for a command of one letter a word."""
    return isinstance(command, Sequence) and not isinstance(command, str | bytes) and all(map(_word, command))


def _word(text: object) -> bool:
    """Whether a program can be given it."""
    return isinstance(text, str) and "\0" not in text and encodes(text)


def _commands(suite: object) -> bool:
    return isinstance(suite, Sequence) and not isinstance(suite, str | bytes) and all(map(_words, suite))


def _variables(given: object) -> bool:
    return isinstance(given, Mapping) and all(
        _word(name) and _word(value) and name and "=" not in name for name, value in given.items()
    )

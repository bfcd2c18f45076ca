"""Reads the words of the command line that need more than argparse: durations, parameters, files to write."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

__all__ = ["LONGEST_H", "duration_s", "hook_command", "is_input", "parameter"]

LONGEST_H = 48
"""Hours of a budget: a weekend. What is longer is a slip of the unit, and nobody is there to see it."""

_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3600.0}


def duration_s(text: str) -> float:
    """Seconds of ``60s``, ``3m``, ``1h`` or a bare number of seconds; above zero, at most :data:`LONGEST_H` hours."""
    found = _DURATION.fullmatch(text)
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write 60s, 3m or 1h")
    if seconds > LONGEST_H * 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is longer than {LONGEST_H}h, which is the most")
    return seconds


def parameter(text: str) -> tuple[str, str]:
    """(key, value) of ``K=V``."""
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form KEY=VALUE")
    return key, value


def hook_command(text: str) -> str:
    """A command as a shell would split it, though none is started: the text itself, once it is known to be words."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no command: {str(error).lower()}") from error
    if not words or not words[0] or "\0" in text:
        raise argparse.ArgumentTypeError(f"{text!r} names no program")
    return text


def is_input(target: str, inputs: Iterable[Path]) -> bool:
    """Whether writing ``target`` would replace one of ``inputs``, by whatever name: a link, or a detour."""
    for path in inputs:
        try:
            if os.path.realpath(target) == os.path.realpath(path) or Path(target).samefile(path):
                return True
        except (OSError, ValueError):  # one of them is not there, and no name leads from one to the other
            continue
    return False

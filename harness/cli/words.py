"""Reads the words of the command line that need more than argparse: durations, parameters, signals."""

from __future__ import annotations

import argparse
import re

__all__ = ["duration_s", "parameter"]

_DURATION = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3600.0}


def duration_s(text: str) -> float:
    """Seconds of ``60s``, ``3m``, ``1h`` or a bare number of seconds; greater than zero."""
    found = _DURATION.fullmatch(text)
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration; write 60s, 3m or 1h")
    return seconds


def parameter(text: str) -> tuple[str, str]:
    """(key, value) of ``K=V``."""
    key, equals, value = text.partition("=")
    if not equals or not key or not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form KEY=VALUE")
    return key, value

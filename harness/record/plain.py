"""Records as plain JSON values: enums by value, dataclasses by field, numbers finite, text encodable.

The one place that decides what a written file may hold. What is no plain data is refused by its JSON path.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from kpis.terms.reading import Distribution, Reading

__all__ = ["NUMBERS", "RunFileError", "fits", "plain"]


class RunFileError(ValueError):
    """A run that cannot be written, or bytes that are not a run file; one sentence with the file and the JSON path."""


# Typed as float: an int among them would be read back as a float, and the second writing would differ from the first.
_FLOATS = ("median", "cpu_median", "overhead_share")
# Counts may be int or float, but a truth value is stored as 1 or 0.
NUMBERS = ("value", "numerator", "denominator", "excluded")


def _members(value: Any) -> dict[str, Any]:
    members = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Reading):
        for name in NUMBERS:
            if isinstance(members[name], bool):
                members[name] = int(members[name])
        if value.knobs is not None:
            members["knobs"] = {key: float(knob) for key, knob in value.knobs.items()}
    elif isinstance(value, Distribution):
        for name in _FLOATS:
            if members[name] is not None:
                members[name] = float(members[name])
        if value.ci95 is not None:
            members["ci95"] = [float(bound) for bound in value.ci95]
    return members


def fits(value: Any) -> bool:
    """Whether a reader of 64-bit JSON numbers can hold ``value``."""
    # Most readers of JSON hold 64 bits, and a float that is as good as infinite helps nobody.
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def _text(value: str) -> str:
    # A file name that is not UTF-8 reaches us with lone surrogates, which no JSON reader accepts.
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def plain(value: Any, path: str) -> Any:
    """``value`` as JSON values; ``path`` is where it stands in the document.

    Raises:
        RunFileError: it cannot be written; the sentence names the path.
    """
    if value is None or isinstance(value, bool | int):
        if not fits(value):
            raise RunFileError(f"The run cannot be written: {path} does not fit into 64 bits.")
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RunFileError(f"The run cannot be written: {path} is {value!r}, which is not a finite number.")
        return value
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return {name: plain(member, f"{path}.{name}") for name, member in _members(value).items()}
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise RunFileError(f"The run cannot be written: {path} has the key {key!r}, which is not text.")
        return {_text(key): plain(member, f"{path}.{key}") for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member, f"{path}[{index}]") for index, member in enumerate(value)]
    raise RunFileError(f"The run cannot be written: {path} holds a {type(value).__name__}, which is not plain data.")

"""What governs the agent and must not be written by it: whether a value names such a path, and whether it would write.

What a command does is not worked out. It is taken for a write by one of a list of words, which names too much: programs
that can write, and interpreters whatever their script does. A path that the shell puts together, and what a script in a
file does, are not seen. Both looks are linear in the value.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["path_finder", "slashed", "writes"]

_WRITE = re.compile(
    r">|-delete\b|"
    r"\b(?:tee|rm|mv|cp|dd|ln|chmod|chown|chgrp|truncate|install|patch|touch|mkdir|rmdir|unlink|shred|rsync|scp|tar|unzip"
    r"|cpio|curl|wget|ed|ex|vim?|nano|emacs|perl|python[\d.]*|ruby|node|php)\b"
    r"|(?<![\w.])git\b(?!/)"  # the program, and no folder of that name
)
_SED = re.compile(r"\bsed\b")
_IN_PLACE = re.compile(r"\s-\w*i")
_COMMANDS = re.compile(r"[|;&]")
_FOLDER_ENDS = r"(?:/|$|(?=[\s\"'`;|&(){}<>,]))"


def slashed(path: str) -> str:
    """The path with slashes for backslashes."""
    return path.replace("\\", "/")


def path_finder(protected: tuple[str, ...]) -> Callable[[Any], bool]:
    """Whether a text in a value, at any depth, has one of the fragments in it, as it stands or as a normalised path.

    A fragment that ends in a slash is a folder, which may be named without it.
    """
    if not protected:
        return lambda _: False
    search = re.compile("|".join(map(_pattern, map(slashed, protected)))).search

    def named(value: Any) -> bool:
        return any(search(path) or search(posixpath.normpath(path)) for path in map(slashed, _texts(value)))

    return named


def writes(value: Any) -> bool:
    """Whether the command could write that a value holds, as one text or as a list of words."""
    command = " ".join(_texts(value))
    if _WRITE.search(command) is not None:
        return True
    # Command by command: looked for in the whole text at once, each of many sed would read on to its end.
    for part in _COMMANDS.split(command):
        sed = _SED.search(part)
        if sed is not None and _IN_PLACE.search(part, sed.end()) is not None:
            return True
    return False


def _pattern(fragment: str) -> str:
    folder = fragment.rstrip("/")
    return re.escape(folder) + _FOLDER_ENDS if folder and folder != fragment else re.escape(fragment)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value, in its order; names of arguments are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)

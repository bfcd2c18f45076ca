"""What the command is called, so that advice can be typed as it stands.

Sentences everywhere name ``python -m harness``, which is right in files that are written for others. Before a sentence
is shown, and before it is wrapped, :func:`said` puts the name there by which this process was really started. Refuses
to touch anything else of a text.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping

__all__ = ["MODULE", "SCRIPT", "command", "name_of", "named", "program", "said", "set_program", "typed"]

MODULE = "python -m harness"
SCRIPT = "loopladder"

_program = MODULE


def name_of(argv0: str, environment: Mapping[str, str] = os.environ, cwd: str | None = None) -> str:
    """The words that start ``argv0`` again from ``cwd``.

    The console script is called by its bare name where the search path leads to it, else by the path that led to it:
    relative inside the current folder, else whole. Whatever else started us is called :data:`MODULE`.
    """
    name = os.path.basename(argv0)  # noqa: PTH119 - pathlib would double what `hook --help` imports
    if name.partition(".")[0] != SCRIPT or name.endswith(".py"):
        return MODULE
    try:
        here = os.getcwd() if cwd is None else cwd  # noqa: PTH109 - as above
    except OSError:  # the folder is gone, and with it what a relative path meant
        return name
    path = os.path.join(here, argv0)  # noqa: PTH118 - as above
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        found = os.path.join(here, folder, name)  # noqa: PTH118 - as above
        if os.access(found, os.X_OK):
            if _same(found, path):
                return name
            break  # the bare name would start another one
    inside = os.path.relpath(path, here)
    return typed(path if inside.startswith(os.pardir) else inside)


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121 - as above
    except OSError:
        return False


def set_program(argv0: str) -> None:
    """Remember how this process was started; ``main`` does it once."""
    global _program  # noqa: PLW0603 - the one fact about the process that every sentence needs
    _program = name_of(argv0)


def program() -> str:
    """What starts us: ``python -m harness``, ``loopladder``, or the path of the script."""
    return _program


def named() -> str:
    """Our name, where it is read and not typed, as above a usage: the console script's without its path."""
    return MODULE if _program == MODULE else SCRIPT


def said(text: str) -> str:
    """``text`` with the name that can be typed here."""
    return text.replace(MODULE, _program)


def typed(word: str) -> str:
    r"""``word`` as it is typed into a shell, in visible characters: ``$'a\012b'`` where others are in it."""
    if word.isprintable():
        return shlex.quote(word)
    plain = {"'": "\\'", "\\": "\\\\"}
    shown = "".join(plain.get(c, c) if c.isprintable() else _bytes(c) for c in word)
    return f"$'{shown}'"


def _bytes(character: str) -> str:
    raw = "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    # Three octal digits end by themselves; two hexadecimal ones run into a letter that follows.
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", raw))


def command(words: Iterable[str]) -> str:
    """A command line of ours with these words, quoted for a shell."""
    return f"{_program} {' '.join(map(typed, words))}"

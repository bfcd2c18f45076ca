"""What bears a commit's message out: the kinds of files that it changes, beside the kind that it says it changes.

A check of shape and no proof: that a diff touches code says that code was changed, not that the issue is fixed. A
message that begins with a type (``fix:``, ``docs(readme):``) claims that type's kinds; any other claims nothing in
particular, and every kind that is written by hand bears it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType

from seams.contract.fleet_closure import Witness

__all__ = ["Kind", "claimed", "kind_of", "references", "reverted", "witness"]

_NUMBER = r"([0-9]{1,18})\b"
# A run of blanks stands behind one word at most, and digits are bounded: time is in proportion to a message's size.
_RESOLVES = re.compile(rf"\b(?:close|fixe?|resolve)[sd]?\s+#{_NUMBER}", re.IGNORECASE)
_MENTIONS = re.compile(rf"(?<![\w-])#{_NUMBER}")
_TYPE = re.compile(r"([a-z]{1,20})(?:\([^()\n]{0,100}\))?!?:\s", re.IGNORECASE)
_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{40,64})\b", re.MULTILINE)


class Kind(Enum):
    """Kinds of files, by their names alone."""

    CODE = "code"
    TEST = "test"
    DOCS = "docs"
    SETTINGS = "settings"
    DATA = "data"
    OTHER = "other"


_SUFFIXES: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.CODE: "asm bash c cc clj cpp cs css dart erl ex exs f90 go h hpp hs html java jl js jsx kt lua m mjs ml "
        "mm nim php pl proto ps1 py pyi pyx r rb rs s scala scss sh sql sv swift ts tsx v vue zig zsh",
        Kind.DOCS: "adoc md org rst tex txt",
        Kind.SETTINGS: "cfg cmake conf gradle ini lock mk nix tf toml yaml yml",
        Kind.DATA: "arrow csv db feather gz json jsonl ndjson npy npz parquet png sqlite svg tsv xlsx zst",
    }
)
_BY_SUFFIX = {f".{suffix}": kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_NAME = MappingProxyType({"makefile": Kind.SETTINGS, "dockerfile": Kind.SETTINGS, "justfile": Kind.SETTINGS})
_BY_HAND = frozenset({Kind.CODE, Kind.TEST, Kind.DOCS, Kind.SETTINGS})

_CLAIMS: Mapping[str, frozenset[Kind]] = MappingProxyType(
    {
        **dict.fromkeys(("feat", "fix", "perf", "refactor", "security"), frozenset({Kind.CODE, Kind.SETTINGS})),
        **dict.fromkeys(("test", "tests"), frozenset({Kind.TEST})),
        **dict.fromkeys(("docs", "doc"), frozenset({Kind.DOCS})),
        **dict.fromkeys(("build", "ci", "deps"), frozenset({Kind.CODE, Kind.TEST, Kind.SETTINGS})),
        **dict.fromkeys(("chore", "style"), _BY_HAND),
        **dict.fromkeys(("data", "bench", "results", "measure", "experiment"), frozenset({Kind.DATA})),
    }
)


def references(message: str) -> tuple[frozenset[int], frozenset[int]]:
    """The issues that ``message`` resolves, and those that it only mentions."""
    resolved = frozenset(int(number) for number in _RESOLVES.findall(message))
    return resolved, frozenset(int(number) for number in _MENTIONS.findall(message)) - resolved


def reverted(message: str) -> frozenset[str]:
    """The commits that ``message`` says it reverts; none where its first line does not say that it is a revert."""
    if not message.lstrip().startswith(("Revert ", "Reapply ")):
        return frozenset()
    return frozenset(_REVERTS.findall(message))


def claimed(message: str) -> frozenset[Kind] | None:
    """The kinds of files that ``message`` says it changes; None where it names no type that is known."""
    found = _TYPE.match(message.lstrip())
    return None if found is None else _CLAIMS.get(found[1].lower())


def kind_of(path: str) -> Kind:
    """The kind of a file, by its folders, its name and its suffix."""
    place = PurePosixPath(path.lower())
    kind = _BY_NAME.get(place.name) or _BY_SUFFIX.get(place.suffix, Kind.OTHER)
    if kind is not Kind.CODE:
        return kind
    name, folders = place.name, set(place.parts[:-1])
    tests = name.startswith("test_") or place.stem.endswith(("_test", ".test", ".spec"))
    return Kind.TEST if tests or folders & {"test", "tests"} else kind


def witness(message: str, paths: Iterable[str]) -> Witness:
    """What the change of ``paths`` bears out of ``message``."""
    kinds = {kind_of(path) for path in paths}
    claims = claimed(message)
    if kinds & ((_BY_HAND if claims is None else claims) - {Kind.DATA}):
        return Witness.DIFF
    if Kind.DATA in kinds and (claims is None or Kind.DATA in claims):
        return Witness.DATA
    return Witness.NONE

"""The file of an accuracy table: TOML in, :class:`~harness.judge.evaluation.accuracy.AccuracyTable` out.

Tables that ship are known by name, others by path. Refuses to guess: counts are whole numbers of cases, of rules that
there are, and the file says whose labels they rest on. The newest table of our own detectors is known as ``loopladder``
besides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from harness.formats.evaluation_toml import tables_in
from harness.formats.limits import FormatError, printable, regular_bytes
from harness.judge.evaluation.accuracy import AccuracyTable, Counts, Labelling
from kpis.errors import did_you_mean
from kpis.rules.catalogue import NAMES

__all__ = ["OURS", "REFERENCE", "SCHEMA", "decode", "encode", "named_bytes", "named_table", "shipped"]

SCHEMA = "harness.accuracy/1"
REFERENCE = "reference-0.10.0"
OURS = "loopladder"
"""Our own detectors; the tables are called so, with the day on which they were measured behind it."""

_FOLDER = Path(__file__).parent / "accuracy_tables"
_KEYS = {"schema", "version", "release", "labelling", "rule", "corpus", "rule_version"}
_CELLS = ("tp", "fp", "fn", "tn")
_SHORT = 12
_MOST_CASES = 2**53
"""Beyond it one case more or less makes no difference to a double."""

_AGAIN = "Correct it, or name a table that ships: accuracy = "


def shipped() -> list[str]:
    """The names of the tables that come with this package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def _of_ours(name: str) -> AccuracyTable:
    return decode((_FOLDER / f"{name}.toml").read_bytes(), name)


def named_table(word: str, folder: Path) -> AccuracyTable:
    """The table that ``word`` names: one that ships, else a file, relative to ``folder``.

    Raises:
        FormatError: there is none, or it cannot be used.
    """
    ours = _newest(word)
    return _of_ours(ours) if ours is not None else decode(named_bytes(word, folder), (folder / word).stem)


def named_bytes(word: str, folder: Path) -> bytes:
    """What is in the file of the table that ``word`` names; see :func:`named_table`.

    Raises:
        FormatError: there is none, or it cannot be read.
    """
    ours = _newest(word)
    try:
        return regular_bytes(folder / word if ours is None else _FOLDER / f"{ours}.toml")
    except ValueError:
        raise FormatError(f"The accuracy table {printable(word)} is no name of a file. {_AGAIN}{REFERENCE!r}") from None
    except OSError as error:
        hint = did_you_mean(word, (*shipped(), OURS))
        raise FormatError(
            f"The accuracy table {printable(word)} cannot be read{hint}: {error.strerror}. {_AGAIN}{REFERENCE!r}"
        ) from None


def _newest(word: str) -> str | None:
    """The table that ships under ``word``; the days in the names of our own sort as they came."""
    names = shipped()
    if word == OURS:
        return max((name for name in names if name.startswith(f"{OURS}-")), default=None)
    return word if word in names else None


def encode(
    rows: Mapping[str, Counts], versions: Mapping[str, int], corpus: str, release: str, labelling: Labelling
) -> bytes:
    """The file of a table that was measured: the counts and the version of each rule.

    ``corpus`` is the sha256 of the labelled cases; its beginning is the version of the table.
    """
    head = {"schema": SCHEMA, "version": corpus[:_SHORT], "release": release, "labelling": labelling.value}
    lines = ["# How often each detector was right on labelled cases. Written by a command, not by hand:"]
    lines.append("#   python -m harness evaluate --measure CORPUS --to FILE")
    lines += [f'{key} = "{value}"' for key, value in {**head, "corpus": corpus}.items()]
    lines += ["", "[rule_version]", *(f"{rule} = {versions[rule]}" for rule in rows), "", "[rule]"]
    for rule, counts in rows.items():
        cells = ", ".join(f"{cell} = {getattr(counts, cell)}" for cell in _CELLS)
        lines.append(f"{rule} = {{ {cells} }}")
    return ("\n".join(lines) + "\n").encode("ascii")


def decode(body: bytes, name: str) -> AccuracyTable:
    """The table that ``body`` is; ``name`` is how a verdict names it.

    Raises:
        FormatError: it is no accuracy table, or a row of it cannot be used.
    """
    try:
        document = tables_in(body)
    except FormatError as error:
        raise _fault(name, str(error)) from None
    if document.get("schema") != SCHEMA:
        raise _fault(name, f"is of schema {document.get('schema')!r:.60}, not {SCHEMA}")
    if unknown := document.keys() - _KEYS:
        raise _fault(name, f"has the unknown key {printable(sorted(unknown)[0])}")
    for key in ("version", "release"):
        if not isinstance(document.get(key), str) or not document[key]:
            raise _fault(name, f"has no {key}, a text")
    try:
        labelling = Labelling(document.get("labelling"))
    except ValueError:
        words = " or ".join(repr(each.value) for each in Labelling)
        raise _fault(name, f"does not say who labelled its cases: labelling = {words}") from None
    if not isinstance(document.get("corpus", ""), str):
        raise _fault(name, "gives no text for corpus")
    versions = document.get("rule_version", {})
    if not isinstance(versions, dict) or not all(type(version) is int for version in versions.values()):
        raise _fault(name, "gives rule_version something other than whole numbers")
    rows = document.get("rule")
    if not isinstance(rows, dict) or not rows:
        raise _fault(name, "has no table [rule]")
    for rule in (*rows, *versions):
        if rule not in NAMES:
            raise _fault(name, f"names {printable(rule)}, which is no built-in rule{did_you_mean(rule, sorted(NAMES))}")
    return AccuracyTable(
        name,
        document["version"],
        document["release"],
        labelling,
        {rule: _counts(name, rule, row) for rule, row in rows.items()},
        hashlib.sha256(body).hexdigest(),
        versions,
    )


def _counts(name: str, rule: str, row: Any) -> Counts:
    if not isinstance(row, dict) or row.keys() != set(_CELLS):
        raise _fault(name, f"does not give {', '.join(_CELLS)}, and only these, for {rule}")
    for cell in _CELLS:
        if isinstance(row[cell], bool) or not isinstance(row[cell], int) or not 0 <= row[cell] <= _MOST_CASES:
            raise _fault(name, f"gives {row[cell]!r:.40} for {cell} of {rule}, which is no number of cases")
    return Counts(**row)


def _fault(name: str, what: str) -> FormatError:
    return FormatError(f"The accuracy table {name} {what}. {_AGAIN}{REFERENCE!r}")

"""A corpus: files of labelled cases, one detector a file, that say who labelled them.

The first line tells ``schema``, ``rule`` and ``labelling``, and may tell a ``seed`` and what it is ``about``. Each line
after it is an ``id``, ``bad``, the ``family`` that the case was made in, and the ``case`` as ``evaluate`` reads it.
Refuses a line that is not so: a case that were left out would change the accuracy without a word.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.formats.evaluation_case import case_of
from harness.formats.evaluation_json import parsed
from harness.formats.keys import Keys
from harness.formats.limits import FormatError, Limits, regular_bytes
from kpis.terms.evaluation_case import Case
from kpis.terms.evaluation_settings import Settings

__all__ = ["SCHEMA", "SHIPPED", "Corpus", "Labelled", "RuleCases", "corpus_files", "read_corpus"]

SCHEMA = "harness.corpus/1"
SHIPPED = Path(__file__).parent.parent / "evaluation_corpus"
"""The corpus that comes with this package."""

_HEAD_KEYS = ("schema", "rule", "labelling", "seed", "about")
"""What the first line may tell; ``seed`` is where made cases come from, ``about`` a remark of whoever made them."""

_AGAIN = "Correct it, then run: python -m harness evaluate --measure"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One case and whether it is bad. Cases of one ``family`` were made alike."""

    id: str
    bad: bool
    family: str
    case: Case


@dataclass(frozen=True, slots=True)
class RuleCases:
    """The cases of one detector; ``labelling`` as the file words it."""

    rule: str
    labelling: str
    cases: tuple[Labelled, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """All of it, by the names of the rules. ``sha256`` is that of the files' contents, in this order."""

    rules: tuple[RuleCases, ...]
    sha256: str


def corpus_files(path: Path) -> list[Path]:
    """The files of the corpus at ``path``: itself, or those of the folder, whatever is in them."""
    return sorted(path.glob("*.jsonl")) if path.is_dir() else [path]


def read_corpus(path: Path) -> Corpus:
    """The corpus in the file ``path``, or in the ``.jsonl`` files of that folder.

    Raises:
        FormatError: it cannot be read, or a line of it is no labelled case; names file and line.
    """
    read: dict[str, tuple[RuleCases, str]] = {}
    for file in corpus_files(path):
        try:
            body = regular_bytes(file)
        except OSError as error:
            raise FormatError(f"{file} cannot be read: {error.strerror}. Name a corpus: --measure CORPUS") from None
        cases = _file(file, body)
        if cases.rule in read:
            raise FormatError(f"{file} is the second file for {cases.rule}. {_AGAIN} {path}")
        read[cases.rule] = cases, hashlib.sha256(body).hexdigest()
    if not read:
        raise FormatError(f"{path} holds no .jsonl file. Name a corpus: python -m harness evaluate --measure CORPUS")
    whole = hashlib.sha256("\n".join(read[rule][1] for rule in sorted(read)).encode()).hexdigest()
    return Corpus(tuple(read[rule][0] for rule in sorted(read)), whole)


def _file(file: Path, body: bytes) -> RuleCases:
    head: tuple[str, str] | None = None
    cases: list[Labelled] = []
    seen: set[str] = set()
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            if head is None:
                head = _head(parsed(line, Limits(), "the line"))
                continue
            case = _labelled(parsed(line, Limits(), "the line"))
            if case.id in seen:
                raise FormatError(f"the id {case.id!r} was there before")
        except FormatError as error:
            raise FormatError(f"{file}, line {number}: {str(error).rstrip('.')}. {_AGAIN} {file}") from None
        seen.add(case.id)
        cases.append(case)
    if head is None or not cases:
        raise FormatError(f"{file} holds no labelled case. Name a corpus: python -m harness evaluate --measure CORPUS")
    return RuleCases(*head, tuple(cases))


def _head(value: Any) -> tuple[str, str]:
    keys = Keys(value, "the first line")
    keys.only(_HEAD_KEYS)
    keys.text("schema", (SCHEMA,))
    keys.needed("schema")
    return keys.needed("rule"), keys.needed("labelling")


def _labelled(value: Any) -> Labelled:
    keys = Keys(value, "the line")
    keys.only(("id", "bad", "family", "case"))
    bad = keys.truth("bad")
    if bad is None:
        raise FormatError("the line does not say whether the case is bad")
    ident = keys.needed("id")
    return Labelled(ident, bad, keys.text("family") or ident, case_of(keys.get("case"), Settings()))

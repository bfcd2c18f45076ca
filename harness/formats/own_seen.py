"""What the files of a run in this project's own trace format have said so far: ids, threads, and parents.

It knows what stands a second time and what nothing describes. This module refuses to read a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from harness.formats.own_schema import MAIN, own_id
from kpis.terms.trace import Issue, IssueCode, RunFacts, Severity, Thread, ThreadKind

__all__ = ["Parent", "Seen"]


class Parent(NamedTuple):
    """A parent that a header names: of which run, what that one's main thread is called, and where it stands."""

    parent: str
    run: str | None
    main: str
    file: str
    line: int


class Seen:
    """What the files before said already, and ``parents``, the lineage of all."""

    def __init__(self, parents: Mapping[str, str]) -> None:
        self.parents = parents
        self.ids: set[tuple[type, str]] = set()
        self.made_up: dict[tuple[type, str], bytes] = {}
        self.rest: set[str] = set()
        self.next: dict[tuple[type, str], int] = {}
        self.runs: set[str] = set()
        self.named: list[Parent] = []
        self.orphans: dict[str, str] = {}
        self.threads: set[str] = set()
        self.described: set[str] = set()

    def thread_of(self, term: Any) -> None:
        """Keep the thread that ``term`` describes or is of."""
        if isinstance(term, Thread):
            self.described.add(term.thread_id)
        elif not isinstance(term, RunFacts):
            self.threads.add(term.thread_id)

    def phantoms(self) -> Iterator[Issue]:
        """Parents that are no run of these files; the main threads of their runs then name them in vain."""
        for each in self.named:
            if each.parent != each.run and each.parent in self.runs:
                continue
            said = "the run itself" if each.parent == each.run else "a run that is not among the files"
            said = f"The header names {said} as its parent."
            yield Issue(Severity.WARNING, IssueCode.W_PHANTOM_PARENT, said, each.line, each.file)
            if each.parent != each.run:
                self.orphans.setdefault(each.main, own_id(f"{own_id(each.parent)}:{MAIN}"))

    def undescribed(self) -> Iterator[Thread]:
        """The conversations that no line describes: main ones."""
        for thread_id in sorted(self.threads - self.described):
            yield Thread(thread_id, ThreadKind.MAIN, self.orphans.get(thread_id))

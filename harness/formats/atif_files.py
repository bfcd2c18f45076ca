"""The trajectories of one ATIF run, sorted: which file continues which, what is a copy, who refers to whom.

A trajectory is cut where the agent's context was replaced, and goes on in another file, which begins with copies of
steps. Sub-agents are files of their own or stand inside their parent's. Files are matched by what they say of each
other, and by the ends of their names, since people rename what they collect. This module refuses to depend on the order
of files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.formats.json_files import FileLog, in_order, values_of
from harness.formats.limits import FormatError, Limits
from harness.formats.run_format import Source
from harness.formats.whole_json import as_count, as_dict, as_list, as_str, canonical, digest_of
from kpis.terms.trace import IssueCode, Severity

__all__ = ["Chain", "Document", "Known", "Reference", "chains_of", "documents_of", "is_copied", "references_of"]

_CONTINUED = re.compile(r"\.cont-(\d{1,6})(?=\.[^/]*$|$)")
_MOST = 1_000
"""Trajectories of one run. A trial has a dozen; each is compared with all that refer to it."""


@dataclass(slots=True, eq=False)
class Document:
    """One trajectory. ``line`` is where it stands in its file, ``inside`` the trajectory that it is embedded in."""

    root: Mapping[str, Any]
    file: FileLog
    line: int = 1
    inside: Document | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)

    @property
    def session(self) -> str | None:
        """The run's id, as the trajectory has it."""
        return as_str(self.root.get("session_id"))

    @property
    def own(self) -> str | None:
        """The trajectory's own id."""
        return as_str(self.root.get("trajectory_id"))

    @property
    def agent(self) -> Mapping[str, Any]:
        """What it says of its agent."""
        return as_dict(self.root.get("agent"))

    @property
    def index(self) -> int:
        """0 for a beginning, n for the nth continuation."""
        said = as_count(as_dict(self.agent.get("extra")).get("continuation_index"))
        found = _CONTINUED.search(self.file.name)
        return said if said is not None else int(found[1]) if found is not None else 0

    @property
    def final(self) -> Mapping[str, Any]:
        """The totals that it reports: cumulative over the trajectories that it continues."""
        return as_dict(self.root.get("final_metrics"))


@dataclass(slots=True, eq=False)
class Chain:
    """A trajectory and its continuations: one conversation."""

    documents: list[Document]

    @property
    def first(self) -> Document:
        """Where it begins."""
        return self.documents[0]


@dataclass(frozen=True, slots=True)
class Reference:
    """That a step handed work to another trajectory. ``call`` is the id of the tool call that did."""

    told: Mapping[str, Any]
    source: Document
    line: int
    call: str | None


def is_copied(step: Mapping[str, Any]) -> bool:
    """Whether a step is shown again from an earlier trajectory, by its own word."""
    return step.get("is_copied_context") is True or as_dict(step.get("extra")).get("is_copied_context") is True


def documents_of(sources: Sequence[Source], limits: Limits) -> tuple[list[FileLog], list[Document]]:
    """The files, and the trajectories in them, embedded ones included. What cannot be read is an issue of its file."""
    files: list[FileLog] = []
    found: list[Document] = []
    for source in in_order(sources):
        file = FileLog(source)
        files.append(file)
        try:
            values = list(values_of(source, limits, file))
        except FormatError as error:
            file.unreadable(error)
            continue
        made = [Document(value, file, line) for line, value in values if isinstance(value, dict)]
        waiting = [each for each in made if isinstance(each.root.get("steps"), list)]
        if not waiting:
            file.unreadable(FormatError("it holds no trajectory: there are no steps."))
        while waiting and len(found) < _MOST:
            each = waiting.pop(0)
            each.steps = [as_dict(step) for step in as_list(each.root.get("steps"))]
            each.marks = [_mark(step) for step in each.steps]
            found.append(each)
            inner = [child for child in as_list(each.root.get("subagent_trajectories")) if isinstance(child, dict)]
            waiting.extend(Document(child, file, each.line, each) for child in inner)
        if waiting:
            said = f"The run has more than {_MOST:,} trajectories; the others were left out."
            file.issue(Severity.ERROR, IssueCode.E_LIMIT, said)
    return files, found


def _mark(step: Mapping[str, Any]) -> str:
    """The same for a step and its copy, which may have lost its usage, its time and its reasoning."""
    content = {key: step.get(key) for key in ("step_id", "source", "message", "tool_calls")}
    return digest_of(canonical(content))


def chains_of(documents: Sequence[Document]) -> list[Chain]:
    """The conversations: copies left out, continuations put behind what they continue."""
    kept = _without_copies(documents)
    following: dict[int, Document] = {}
    taken: set[int] = set()
    for each in sorted(kept, key=lambda each: each.index):
        after = _continuation(each, [other for other in kept if id(other) not in taken])
        if after is not None:
            following[id(each)] = after
            taken.add(id(after))
    chains: list[Chain] = []
    for each in kept:
        if id(each) not in taken:
            chain, after = [each], following.get(id(each))
            while after is not None:
                chain.append(after)
                after = following.get(id(after))
            chains.append(Chain(chain))
    return chains


def _without_copies(documents: Sequence[Document]) -> list[Document]:
    """Drop a trajectory that stands, whole or in its first steps, in another of the same session and id."""
    kept: list[Document] = []
    longest: dict[tuple[str | None, str | None, str], Document] = {}
    order = {id(each): at for at, each in enumerate(documents)}
    for each in sorted(documents, key=lambda each: (-len(each.marks), order[id(each)])):
        key = (each.session, each.own, each.marks[0] if each.marks else "")
        known = longest.get(key)
        same = each.session is not None or each.own is not None
        if same and known is not None and known.marks[: len(each.marks)] == each.marks:
            said = f"The trajectory is a copy of what {known.file.name} holds, and counts there."
            each.file.issue(Severity.NOTE, IssueCode.W_COPIED_HISTORY, said, each.line)
            continue
        longest.setdefault(key, each)
        kept.append(each)
    return sorted(kept, key=lambda each: order[id(each)])


def _continuation(document: Document, others: Sequence[Document]) -> Document | None:
    """What goes on where ``document`` stops."""
    if document.inside is not None or document.root.get("continued_trajectory_ref") is None:
        return None
    said = document.root.get("continued_trajectory_ref")
    path = as_str(said) or as_str(as_dict(said).get("trajectory_path"))
    fitting = [
        each
        for each in others
        if each is not document and each.inside is None and each.session == document.session
        and each.index > document.index
    ]  # fmt: skip
    named = [each for each in fitting if path is not None and _ends(each.file.name, path)]
    following = [each for each in named or fitting if each.index == document.index + 1]
    return following[0] if len(following) == 1 else None


def _ends(name: str, path: str) -> bool:
    """Whether a file's name ends in what another calls it, up to something put before."""
    last = path.replace("\\", "/").rpartition("/")[2]
    return bool(last) and re.search(rf"(?:^|[/._-]){re.escape(last)}$", name) is not None


def references_of(chain: Chain) -> Iterator[Reference]:
    """The hand-overs of a conversation to other trajectories."""
    for document in chain.documents:
        for line, step in enumerate(document.steps, 1):
            if is_copied(step):
                continue
            for result in map(as_dict, as_list(as_dict(step.get("observation")).get("results"))):
                told = result.get("subagent_trajectory_ref")
                for each in as_list(told) or [told]:
                    if isinstance(each, dict):
                        yield Reference(each, document, line, as_str(result.get("source_call_id")))


class Known:
    """The conversations of a run, found again by what others call them."""

    __slots__ = ("_by_id", "_by_session", "_files")

    def __init__(self, chains: Sequence[Chain]) -> None:
        self._by_id: dict[str | None, list[Chain]] = {}
        self._by_session: dict[str | None, list[Chain]] = {}
        self._files = [each for each in chains if each.first.inside is None]
        for each in chains:
            self._by_id.setdefault(each.first.own, []).append(each)
            self._by_session.setdefault(each.first.session, []).append(each)

    def meant(self, reference: Reference, own: Chain) -> Chain | None:
        """The conversation that a reference of ``own`` means, where it is here: by its id, its file, its session."""
        told = reference.told
        identifier, session, path = (
            as_str(told.get(key)) for key in ("trajectory_id", "session_id", "trajectory_path")
        )
        by_id = self._by_id.get(identifier, []) if identifier is not None else []
        by_file = [each for each in self._files if path is not None and _ends(each.first.file.name, path)]
        by_session = self._by_session.get(session, []) if session not in (None, own.first.session) else []
        for found in (by_id, by_file, by_session):
            others = [each for each in found if each is not own]
            near = [each for each in others if each.first.inside is reference.source] or others
            if len(near) == 1:
                return near[0]
        return None

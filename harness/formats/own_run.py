"""Reads this project's own trace format, in which any runtime can record its runs (docs/trace-format.md).

Types are strict: a count that is a string, or a word that is in no enumeration, makes its line a bad one, and so does a
``type`` that is not known. What a line leaves out has a usual value; a key that is not known is counted and left out.
Deduplication: a request or call whose id stands a second time is marked as copied, so a file that is given twice or was
appended to itself counts once; two that only share an id that was made up for them are two. A thread, turn, dated event
or set of facts that stands a second time is dropped. Of runs of one lineage each has a main thread of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, BinaryIO, ClassVar

import msgspec

from harness.formats.json_files import FileLog, in_order, lines_of
from harness.formats.jsonl import RawLine
from harness.formats.limits import FormatError, Limits, check_depth
from harness.formats.own_line import Line, LineError, line_of
from harness.formats.own_lineage import Names, header_of, lineage_of, names_of
from harness.formats.own_schema import HEADER, SCHEMA, own_id
from harness.formats.own_seen import Parent, Seen
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import as_int, as_str, file_run
from kpis.terms.trace import Issue, IssueCode, Request, Severity, Thread, ToolCall, TraceEvent

__all__ = ["OwnRun"]

_FAMILY = SCHEMA.partition("/")[0]


class OwnRun:
    """The files whose headers name one run are that run."""

    name: ClassVar[str] = "loopladder"

    def sniff(self, head: bytes, filename: str) -> float:  # noqa: ARG002 the header decides alone
        """Certain by the header line."""
        schema = as_str(header_of(head).get("schema"))
        return 1.0 if schema is not None and schema.partition("/")[0] == _FAMILY else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The run that the header names, else the file."""
        header = header_of(head)
        run, parent = as_str(header.get("run_id")), as_str(header.get("parent"))
        return Origin(
            file_run(filename) if run is None else own_id(run),
            None if parent is None else own_id(parent),
            as_int(header.get("started")),
        )

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Every line of every file."""
        seen = Seen(lineage_of(sources))
        for source in in_order(sources):
            file = FileLog(source)
            lines = _Lines(file, source.blob, seen)
            for raw in lines_of(source.blob, limits, file.log):
                try:
                    check_depth(raw.body, limits, f"Line {raw.number}")
                    told = msgspec.json.decode(raw.body)
                except (msgspec.DecodeError, FormatError, RecursionError):
                    told = None
                if isinstance(told, dict):
                    yield from lines.take(told, raw)
                else:
                    file.log.bad(raw, "it is no complete JSON object")
            yield from lines.finished()
            yield from file.finished(self.name)
        yield from seen.phantoms()
        yield from seen.undescribed()


class _Lines:
    """The lines of one file."""

    def __init__(self, file: FileLog, blob: BinaryIO, seen: Seen) -> None:
        self.file = file
        self.blob = blob
        self.seen = seen
        self._run: str | None = None
        self._headed = False
        self._names = Names()
        self._before: dict[tuple[type, str], int] = {}
        self._next: dict[tuple[type, str], int] = {}
        self._repeated: list[int] = []
        self._doubtful: list[int] = []

    def take(self, told: dict[str, Any], raw: RawLine) -> Iterator[TraceEvent]:
        if "schema" in told:
            self._header(told, raw.number)
            return
        try:
            line = line_of(told, self._names, self._next, self.file.name, raw.number)
        except LineError as error:
            self.file.log.bad(raw, str(error))
            return
        for key in line.unknown:
            self.file.unknown_kind(key)
        self.file.seen(*line.times)
        if isinstance(line.term, Request):
            self._output(line.term, raw.number)
        if self._is_new(line, raw.number):
            self.seen.thread_of(line.term)
            yield line.term

    def _header(self, told: dict[str, Any], line: int) -> None:
        """The first line of a file, or of another file that was appended to it: its threads are kept apart."""
        schema, run = as_str(told.get("schema")), as_str(told.get("run_id"))
        if schema != SCHEMA:
            said = f"The header names another schema than {SCHEMA}; the file is read as that one."
            self.file.issue(Severity.WARNING, IssueCode.W_SCHEMA_DRIFT, said, line)
        if not self._headed:
            self._headed, self._run = True, run
            self.file.version = as_str(told.get("source_version"))
            self.file.session = as_str(told.get("session_id"))
            self.file.project, self.file.branch = as_str(told.get("project")), as_str(told.get("branch"))
        apart = run if run != self._run else None
        parent = as_str(told.get("parent"))
        self._names = names_of(run, parent, self.seen.parents, self.blob, apart=apart)
        self.seen.runs |= set() if run is None else {run}
        if parent is not None:
            self.seen.named.append(Parent(parent, run, self._names.main, self.file.name, line))
        for key in told:
            if key not in HEADER:
                self.file.unknown_kind(f"header.{key}")

    def _output(self, request: Request, line: int) -> None:
        """Reasoning is a part of all output: where it is the larger of the two, one of them is wrong."""
        tokens = request.tokens
        if (
            tokens.out_reasoning is not None
            and tokens.out_total is not None
            and tokens.out_reasoning > tokens.out_total
        ):
            self._doubtful.append(line)

    def _settle(self, line: Line) -> None:
        """Behind what earlier files say of the same thread, and apart from what only looks the same by a made-up id."""
        term, place = line.term, (type(line.term), line.term.thread_id)
        known = self.seen.next.get(place, 0)
        before = self._before.setdefault(place, known)
        if line.counted:
            term.index += before
        self.seen.next[place] = max(known, term.index + 1)
        if line.made_up and line.identity is not None:
            name = "request_id" if isinstance(term, Request) else "call_id"
            said = blake2b(line.identity.encode("utf-8", "surrogatepass"), digest_size=8)
            first = self.seen.made_up.setdefault((type(term), getattr(term, name)), said.digest())
            if first != said.digest():
                setattr(term, name, f"{getattr(term, name)}#{said.hexdigest()}")

    def _is_new(self, line: Line, number: int) -> bool:
        """Whether the line is to be handed on; a request or call that is here already is handed on as a copy."""
        term = line.term
        if isinstance(term, (Request, ToolCall)):
            self._settle(line)
            key = (type(term), term.request_id if isinstance(term, Request) else term.call_id)
            if key in self.seen.ids and not term.copied:
                term.copied = True
                self._repeated.append(number)
            self.seen.ids.add(key)
            return True
        if line.identity is None:
            return True
        known = line.identity in self.seen.rest
        self.seen.rest.add(line.identity)
        if known and not isinstance(term, Thread):
            self._repeated.append(number)
        return not known

    def finished(self) -> Iterator[Issue]:
        """What the lines have in common that a reader must know."""
        if self._run is None:
            said = f'The file does not begin with a header, {{"schema": "{SCHEMA}", "run_id": ...}}.'
            yield Issue(Severity.NOTE, IssueCode.W_SCHEMA_DRIFT, said, file=self.file.name)
        if self._doubtful:
            n = len(self._doubtful)
            said = f"{n:,} request{'s' * (n != 1)}: more reasoning than output, its whole. Both stand as written."
            yield Issue(Severity.WARNING, IssueCode.W_USAGE_MEANING, said, self._doubtful[0], self.file.name)
        if self._repeated:
            said = f"{len(self._repeated):,} lines say again what an earlier one says, by their ids; they count once."
            yield Issue(Severity.WARNING, IssueCode.W_REPEATED_LINE, said, self._repeated[0], self.file.name)

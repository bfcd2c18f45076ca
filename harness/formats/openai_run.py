"""Logs of requests to OpenAI-style endpoints, as proxies and home-made loggers write them: one JSON object a line.

A record is ``{"request", "response", ...}``, ``{"messages", "response", ...}``, a line of the Batch API, or a bare
response of the chat or the Responses API. Deduplication: records with one response id are one request, whose usage is
that of the last record that has any (a stream repeats it, and only its end is whole). A call stands in a response, its
result in the messages of a later request; both are repeated in every request after that and count once. Requests are
one thread where a record says so, where a response continues another by its id, or else where they open with the same
system prompt and first message. A record may say what it was made for: ``case`` (or ``case_id``), ``arm``,
``replicate``, and of an evaluator ``success`` and ``score``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from harness.formats.json_files import FileLog, in_order, values_of
from harness.formats.jsonl import first_objects
from harness.formats.limits import FormatError, Limits
from harness.formats.openai_record import Record, Told, record_of
from harness.formats.openai_usage import UsageLog
from harness.formats.plain_calls import CallLog
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import decoded, digest_of, file_run, has_keys
from kpis.terms.trace import (
    Issue,
    IssueCode,
    Request,
    RequestStatus,
    RunFacts,
    Severity,
    Thread,
    ThreadKind,
    Tokens,
    TraceEvent,
    Turn,
    UserKind,
)

__all__ = ["OpenAiRun"]

_LIMITS = Limits()
_UNTOLD = Told(None, None, None, None, None)
_MOST_CASES = 10_000
_CHUNK = "chat.completion.chunk"


class OpenAiRun:
    """One file is one run; records of several files of a run are told apart by their ids."""

    name: ClassVar[str] = "openai-log"

    def sniff(self, head: bytes, filename: str) -> float:  # noqa: ARG002 the content decides alone
        """Sure where one of the first lines is a record; less so of a list, which is not parsed here."""
        if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
            answers = b'"chat.completion"' in head or has_keys(head, "prompt_tokens", "completion_tokens")
            return 0.6 if has_keys(head, "choices", "usage") and answers else 0.0
        for line in first_objects(head, 3):
            if record_of(_parsed(line)) is not None:
                return 0.9
        return 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """A run of its own, begun at the time of its first record."""
        first = next((found for line in first_objects(head, 3) if (found := record_of(_parsed(line)))), None)
        return Origin(file_run(filename), started=None if first is None else first.started)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """The requests of all files, and the calls that their answers made."""
        known: set[str] = set()
        for source in in_order(sources):
            log = _Log(FileLog(source), known)
            try:
                for line, value in values_of(source, limits, log.file):
                    log.record(value, line)
            except FormatError as error:
                log.file.unreadable(error)
            yield from log.finished()
            yield from log.file.finished(self.name)


def _parsed(line: bytes) -> Any:
    try:
        return decoded(line, _LIMITS, "it")
    except ValueError:
        return None


class _Log:
    def __init__(self, file: FileLog, known: set[str]) -> None:
        self.file = file
        self.usage = UsageLog(file.name)
        self.calls = CallLog(file.name)
        self.requests: dict[str, Request] = {}
        self.elsewhere = known  # response ids of the files before this one
        self._threads: dict[str, int] = {}
        self._of_response: dict[str, str] = {}
        self._turns: dict[str, list[Turn]] = {}
        self._results: set[tuple[str, str]] = set()
        self._told: dict[tuple[str | None, str | None, int | None], RunFacts] = {}
        self._unsure: set[tuple[str | None, str | None, int | None]] = set()
        self._misfits: dict[str, list[int]] = {}
        self._repeated = 0
        self._nameless = 0

    def record(self, value: Any, line: int) -> None:
        """Take one record; anything else is counted as unknown."""
        found = record_of(value)
        if found is None:
            self.file.unknown_kind(value.get("object", value.get("type")) if isinstance(value, dict) else None, value)
            return
        self.file.seen(found.started, found.ended)
        for key in found.misfits:
            self._misfits.setdefault(key, []).append(line)
        self._facts(found.told)
        known = self.requests.get(safe_id(found.response_id)) if found.response_id else None
        if known is not None:
            self._again(known, found, line)
            return
        thread = self._thread(found)
        turn = self._turn(thread, found)
        index = self._threads[thread]
        self._threads[thread] += 1
        if found.response_id is None:
            self._nameless += 1
        request_id = safe_id(found.response_id) if found.response_id else f"{thread}#{index}"
        self._of_response[found.response_id or request_id] = thread
        self._answered(found, thread, line)
        status = RequestStatus.ERROR if found.failed else RequestStatus.OK
        model, provider, stop = (
            None if each is None else safe_name(each) for each in (found.model, found.provider, found.answer.stop)
        )
        self.requests[request_id] = Request(
            request_id, thread, turn, index,
            self.usage.tokens(found.usage, line) if found.usage else Tokens(),
            model=model, status=status, stop_reason=stop, t_first=found.started, t_last=found.ended,
            provider=provider, visible_chars=found.answer.chars, cost_usd=found.cost_usd, duration_ms=found.duration_ms,
            copied=request_id in self.elsewhere, file=self.file.name, line=line,
        )  # fmt: skip
        self._made(found, thread, turn, request_id, line)

    def _facts(self, told: Told) -> None:
        """What is told of a case, once for all its records: it passes if all that say so do; the last score counts.

        Where one of them says something else than true or false, nobody knows whether it passed, unless one failed.
        """
        if told == _UNTOLD:
            return
        key = told.case_id, told.arm, told.replicate
        known = self._told.get(key)
        if known is None and len(self._told) >= _MOST_CASES:
            return
        said = [each for each in (told.success, None if known is None else known.success) if each is not None]
        if told.unsure:
            self._unsure.add(key)
        success = all(said) if said else None
        if success and key in self._unsure:
            success = None
        score = told.score if told.score is not None or known is None else known.score
        self._told[key] = RunFacts(
            case_id=told.case_id, arm=told.arm, replicate=told.replicate, success=success, score=score,
            file=self.file.name,
        )  # fmt: skip

    def _again(self, known: Request, found: Record, line: int) -> None:
        """Another record of an answer that is here already: the end of a stream, or the same once more."""
        known.n_lines += 1
        if found.kind != _CHUNK:
            self._repeated += 1
        if found.usage and (found.kind == _CHUNK or known.tokens.out_total is None):
            known.tokens = self.usage.tokens(found.usage, line)
        known.stop_reason = known.stop_reason or (safe_name(found.answer.stop) if found.answer.stop else None)
        if found.ended is not None:
            known.t_last = max(found.ended, known.t_last or found.ended)

    def _thread(self, found: Record) -> str:
        key = self._of_response.get(found.continues or "")
        if key is None:
            key = safe_id(found.session) if found.session else f"chat-{digest_of(found.opening)}"
        self._threads.setdefault(key, 0)
        return key

    def _turn(self, thread: str, found: Record) -> int:
        """The turn of a request: a new one where the last thing sent is a user's."""
        turns = self._turns.setdefault(thread, [])
        if not turns or found.user_spoke:
            turns.append(Turn(thread, len(turns), UserKind.HUMAN, found.started, found.ended))
        elif found.ended is not None:
            last = turns[-1]
            turns[-1] = Turn(thread, last.index, UserKind.HUMAN, last.t_start or found.started, found.ended)
        return len(turns) - 1

    def _answered(self, found: Record, thread: str, line: int) -> None:
        """The results among what was sent, each the first time that it stands there."""
        for given, content in found.results:
            if (thread, given) in self._results:
                continue
            self._results.add((thread, given))
            call = self.calls.waiting(thread, given)
            if call is None:
                self.calls.orphan(thread, given, content, line=line, t=found.started)
            else:
                self.calls.answered(call, content, t=found.started)

    def _made(self, found: Record, thread: str, turn: int, request_id: str, line: int) -> None:
        for made in found.answer.calls:
            call = self.calls.opened(
                thread, made.name, made.arguments, given=made.given, request_id=request_id, turn=turn,
                t=found.ended, line=line,
            )  # fmt: skip
            call.copied = request_id in self.elsewhere
            if made.outcome is not None:  # the provider ran the tool itself
                self.calls.answered(call, made.result, made.outcome, t=found.ended)
                if made.given is not None:
                    self._results.add((thread, made.given))
            elif made.given is not None:
                self._results.discard((thread, made.given))

    def finished(self) -> Iterator[TraceEvent | Issue]:
        """Everything that was gathered."""
        for thread in self._threads:
            yield Thread(thread, ThreadKind.MAIN)
            yield from self._turns[thread]
        for request in self.requests.values():
            silent = request.tokens.prompt is None and request.tokens.unattributed is None
            if silent and request.tokens.out_total is None and request.status is RequestStatus.OK:
                self.usage.note("absent", request.line or 1)
            yield request
        yield from self._told.values()
        yield from self.calls.finished()
        yield from self.usage.issues()
        self.elsewhere |= {each.request_id for each in self.requests.values() if "#" not in each.request_id}
        for key, lines in self._misfits.items():
            n = f"{len(lines):,} record{'s' * (len(lines) != 1)}"
            said = f"The {key} of {n} is nothing that it may be, and was left out."
            self.file.issue(Severity.WARNING, IssueCode.W_SCHEMA_DRIFT, said, lines[0])
        if self._repeated:
            said = f"{self._repeated:,} records repeat a response by its id; each response counts once."
            self.file.issue(Severity.NOTE, IssueCode.W_REPEATED_LINE, said)
        if self._nameless:
            have = "record has" if self._nameless == 1 else "records have"
            said = f"{self._nameless:,} {have} no response id, so one that was logged twice counts twice."
            self.file.issue(Severity.NOTE, IssueCode.W_NO_REQUEST_ID, said)

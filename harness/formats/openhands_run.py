"""Recordings of OpenHands: a trajectory, a folder of event files, or the output of an evaluation.

The files of one conversation's folder are one run; any other file is a run of its own, and each row of an evaluation
is a thread of it with facts of its own. The totals that the client keeps are held against the requests, because calls
of the condenser stand in the totals alone. This module refuses to add a cumulative counter to anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from harness.formats.json_files import FileLog, in_order, values_of
from harness.formats.limits import FormatError, Limits
from harness.formats.openhands_conversation import Conversation
from harness.formats.openhands_events import take_event
from harness.formats.openhands_metrics import Spending
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import as_dict, as_int, as_list, as_ms, as_str, file_run, has_keys
from kpis.terms.trace import Issue, IssueCode, RunFacts, Severity, TraceEvent

__all__ = ["OpenHandsRun"]

_MAIN = "main"
_OLDER = re.compile(
    rb'"id"\s*+:\s*+-?\d++\s*+,\s*+"timestamp"\s*+:\s*+"([^"]{10,40})"\s*+,\s*+"source"\s*+:\s*+"(?:agent|user|environment)"'
)
_FOLDER = re.compile(r"(.*?)(?:^|/)(?:events/(?:event-)?\d+[^/]*\.json|base_state\.json)")
_STAMP = re.compile(rb'"timestamp"\s*+:\s*+"([^"]{10,40})"')
_NUMBER = re.compile(r"(\d{1,18})[^/]*\Z")


class OpenHandsRun:
    """A conversation in one file or many, or many conversations in one file."""

    name: ClassVar[str] = "openhands"

    def sniff(self, head: bytes, filename: str) -> float:
        """Sure by the fields that every event begins with, or by the kinds of the newer events."""
        if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
            return 0.0
        if has_keys(head, "instance_id", "history") and has_keys(head, "metrics", "test_result"):
            return 0.97
        if _OLDER.search(head) is not None and (has_keys(head, "action") or has_keys(head, "observation")):
            return 0.96
        if has_keys(head, "kind", "source", "timestamp"):
            kinds = ("ActionEvent", "ObservationEvent", "MessageEvent", "SystemPromptEvent", "Condensation")
            if any(has_keys(head, kind) for kind in kinds):
                return 0.96
        if _FOLDER.fullmatch(filename) and (has_keys(head, "kind", "timestamp") or has_keys(head, "execution_status")):
            return 0.8
        return 0.96 if has_keys(head, "usage_to_metrics", "execution_status") else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The conversation whose folder the file stands in, else the file."""
        folder = _FOLDER.fullmatch(filename)
        stamp = _OLDER.search(head) or _STAMP.search(head)
        started = as_ms(stamp[1].decode("ascii", "replace")) if stamp else None
        return Origin(file_run(filename if folder is None else f"{folder[1]}/events"), started=started)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """The events of all files in the order of their numbers, and the rows of an evaluation."""
        files: list[FileLog] = []
        events: list[tuple[int, FileLog, int, dict[str, Any]]] = []
        spending = Spending()
        rows: list[tuple[FileLog, int, dict[str, Any]]] = []
        outcome: str | None = None
        for source in in_order(sources):
            file = FileLog(source)
            files.append(file)
            try:
                items = list(values_of(source, limits, file))
            except FormatError as error:
                file.unreadable(error)
                continue
            for line, value in items:
                told = as_dict(value)
                inner = next((told[key] for key in ("history", "trajectory", "events") if as_list(told.get(key))), None)
                if "instance_id" in told or ("history" in told and "metrics" in told):
                    rows.append((file, line, told))
                elif inner is not None:
                    events += [(0, file, at, each) for at, each in enumerate(_flat(inner), 1)]
                elif "execution_status" in told and "kind" not in told:
                    outcome = as_str(told.get("execution_status"))
                    spending.take(told.get("stats"))
                elif told:
                    events.append((_place(told, source.name) if len(sources) > 1 else 0, file, line, told))
                else:
                    events += [(0, file, line, each) for each in _flat([value])]
        if events or not rows:
            events.sort(key=lambda each: each[0])
            yield from _conversation(_MAIN, files[0] if files else None, spending, events, {"status": outcome})
        names: dict[str, int] = {}
        for file, line, row in rows:
            name = safe_id(as_str(row.get("instance_id")) or "row")
            names[name] = names.get(name, 0) + 1
            thread = name if names[name] == 1 else f"{name}#{names[name]}"
            own = Spending()
            own.take(row.get("metrics"))
            listed = [(0, file, line, each) for each in _flat(as_list(row.get("history")))]
            yield from _conversation(thread, file, own, listed, row)
        for file in files:
            yield from file.finished(self.name)


def _flat(history: Sequence[Any]) -> list[dict[str, Any]]:
    """The events of a history; old evaluations pair an action with its observation."""
    return [as_dict(each) for item in history for each in (item if isinstance(item, list) else [item]) if each]


def _place(event: dict[str, Any], name: str) -> int:
    """Where an event that is a file stands among the others."""
    own = as_int(event.get("id"))
    found = _NUMBER.search(name.rpartition("/")[2]) if own is None else None
    return own if own is not None else int(found[1]) if found else 0


def _conversation(
    thread: str,
    file: FileLog | None,
    spending: Spending,
    events: Sequence[tuple[int, FileLog, int, dict[str, Any]]],
    row: dict[str, Any],
) -> Iterator[TraceEvent | Issue]:
    if file is None:
        return
    for _, _, _, event in events:
        spending.take(event.get("llm_metrics"))
        if event.get("kind") == "ConversationStateUpdateEvent":
            spending.take(as_dict(event.get("value")).get("stats", event.get("value")))
    one = Conversation(thread, file, spending)
    for _, where, line, event in events:
        take_event(one, event, line, where)
    yield from one.finished()
    _check(one, spending, file)
    failed = as_str(row.get("error"))
    outcome = "error" if failed else as_str(row.get("status")) or one.outcome
    case = as_str(row.get("instance_id"))
    yield RunFacts(
        by_model=spending.by_model(file.name),
        cost_usd=spending.cost_usd,
        outcome=None if outcome is None else safe_name(outcome),
        success=_resolved(row),
        case_id=None if case is None else safe_id(case),
        replicate=as_int(row.get("attempt")),
        file=file.name,
    )


def _resolved(row: dict[str, Any]) -> bool | None:
    """What an evaluator said: in the row, or in the report inside it."""
    result = as_dict(row.get("test_result"))
    told = [row, as_dict(row.get("report")), result, as_dict(result.get("report"))]
    return next((each["resolved"] for each in told if isinstance(each.get("resolved"), bool)), None)


def _check(one: Conversation, spending: Spending, file: FileLog) -> None:
    """Hold the client's totals against the requests."""
    for part, of in (("prompt_tokens", "prompt"), ("completion_tokens", "output")):
        total = spending.grand(part)
        known = [
            each.tokens.out_total if of == "output" else each.tokens.unattributed if each.tokens.prompt is None
            else each.tokens.prompt
            for each in one.requests.values()
        ]  # fmt: skip
        summed = sum(each for each in known if each is not None)
        if total is not None and None not in known and total != summed:
            said = (
                f"The client counts {total:,} {of} tokens and its events hold {summed:,}; the difference is calls that"
                " no event records, such as those of the condenser."
            )
            file.issue(Severity.WARNING, IssueCode.W_TOTAL_MISMATCH, said)

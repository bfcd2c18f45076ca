"""Logs of Inspect: ``.eval`` archives and their JSON form.

A log is one run, a sample of one epoch a thread of it. What the log says of itself as a whole is held against its
requests. Deduplication: a model event that is met twice counts once; of two members with one name the last counts.
Answers that came out of Inspect's own cache carry usage and cost nothing, so no sum holds them. This module refuses
nothing but a file that is no log.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from harness.formats.inspect_requests import usage_row
from harness.formats.inspect_sample import read_sample
from harness.formats.inspect_scores import score_of
from harness.formats.inspect_state import LogState
from harness.formats.inspect_usage import InspectUsage
from harness.formats.inspect_zip import ZIP, LogPieces, Sample, first_member, log_pieces
from harness.formats.json_files import FileLog, in_order
from harness.formats.limits import FormatError, Limits
from harness.formats.plain_calls import CallLog
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import as_amount, as_count, as_dict, as_ms, as_str, file_run, has_keys
from kpis.terms.trace import (
    Issue,
    IssueCode,
    ModelUsage,
    Recording,
    Request,
    RunFacts,
    Severity,
    Thread,
    ThreadKind,
    TraceEvent,
    UsageScope,
)  # fmt: skip

__all__ = ["InspectRun"]

_RUN = "log"
_CREATED = re.compile(rb'"created":\s?"([^"]{10,40})"')
_NAMED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)([+-]\d\d)-(\d\d)_")
"""A log is named after the time at which it was begun, with what no file system takes replaced."""
_MEMBERS = ("_journal/", "samples/", "header.json", "summaries.json", "reductions.json")
_NAMED_MODELS = 10


class InspectRun:
    """The reader."""

    name: ClassVar[str] = "inspect"

    def sniff(self, head: bytes, filename: str) -> float:
        """Sure of an archive that begins with a member of a log, and of JSON with a log's first keys."""
        if head.startswith(ZIP):
            name, _ = first_member(head)
            named = filename.endswith(".eval")
            return 0.97 if name.startswith(_MEMBERS) else 0.9 * named
        if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{" or not has_keys(head, "eval", "status", "task"):
            return 0.0
        return 0.97 if has_keys(head, "inspect_ai") else 0.7 * has_keys(head, "version", "created", "dataset")

    def origin(self, head: bytes, filename: str) -> Origin:
        """A run of its own: evaluations that were started together share an id and nothing else."""
        shown = first_member(head)[1] if head.startswith(ZIP) else head
        found, named = _CREATED.search(shown), _NAMED.match(filename.rpartition("/")[2])
        started = None if found is None else as_ms(found[1].decode("utf-8", "replace"))
        if started is None and named is not None:
            started = as_ms("{}:{}:{}{}:{}".format(*named.groups()))
        return Origin(file_run(filename), started=started)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Threads, requests, calls and facts of every log."""
        seen: dict[str, Request] = {}
        for at, source in enumerate(in_order(sources)):
            file = FileLog(source)
            project: str | None = None
            try:
                pieces = log_pieces(source, limits, file)
            except FormatError as error:
                file.unreadable(error)
            else:
                project = as_str(as_dict(pieces.header.get("eval")).get("task"))
                yield from _log(pieces, file, f"{at}:" if at else "", seen)
            for each in file.finished(self.name):
                if isinstance(each, Recording) and project is not None:
                    yield replace(each, project=safe_name(project))
                else:
                    yield each


def _log(pieces: LogPieces, file: FileLog, prefix: str, seen: dict[str, Request]) -> Iterator[TraceEvent | Issue]:
    spec = as_dict(pieces.header.get("eval"))
    version = as_str(as_dict(spec.get("packages")).get("inspect_ai"))
    file.version = None if version is None else safe_name(version)
    session = as_str(spec.get("eval_id")) or as_str(spec.get("run_id"))
    file.session = None if session is None else safe_id(session)
    file.log.lines = 0
    state = LogState(file, InspectUsage(file.name, version), CallLog(file.name), as_str(spec.get("model")), seen)
    for sample in pieces.samples():
        thread_id = prefix + _thread_of(sample)
        while thread_id in state.threads:
            thread_id += "+"
        state.threads.add(thread_id)
        state.denied = None
        yield from read_sample(state, sample, thread_id)
        yield _facts(sample, state)
    stats = as_dict(pieces.header.get("stats"))
    usages = {model: as_dict(usage) for model, usage in as_dict(stats.get("model_usage")).items()}
    if not state.rows and usages:
        yield Thread(prefix + _RUN, ThreadKind.MAIN)
        yield from _whole_rows(state, prefix + _RUN, usages)
    yield from state.calls.finished()
    yield from state.usage.issues()
    yield from _orphans(state)
    yield _whole_facts(pieces.header, stats, usages, file, version)
    if not pieces.unread:
        _check(state, usages)


def _thread_of(sample: Sample) -> str:
    identifier, epoch = sample.fields.get("id"), as_count(sample.fields.get("epoch"))
    return f"{safe_id(str(identifier)[:1_000])}:{1 if epoch is None else epoch}"


def _whole_rows(state: LogState, thread_id: str, usages: Mapping[str, Mapping[str, Any]]) -> Iterator[Request]:
    for index, (model, usage) in enumerate(usages.items()):
        state.totals[model] = as_count(usage.get("total_tokens")) or 0
        yield usage_row(state, thread_id, index, model, usage, UsageScope.RUN)


def _orphans(state: LogState) -> Iterator[Issue]:
    if state.orphans:
        many = f"{len(state.orphans):,} tool results have" if len(state.orphans) > 1 else "1 tool result has"
        said = f"{many} no call recorded; each counts as a call without arguments."
        yield Issue(Severity.WARNING, IssueCode.W_ORPHAN_RESULT, said, state.orphans[0], state.file.name)


def _facts(sample: Sample, state: LogState) -> RunFacts:
    """What the log says of one sample."""
    fields = sample.fields
    limit = fields.get("limit")
    kind = as_str(limit) or as_str(as_dict(limit).get("type"))
    outcome = "error" if fields.get("error") else None if kind is None else f"limit:{safe_name(kind)}"
    seconds = as_amount(fields.get("total_time"))
    score, success = score_of(fields)
    identifier = fields.get("id")
    return RunFacts(
        duration_ms=None if seconds is None else round(seconds * 1_000),
        turns=as_count(fields.get("turn_count")),
        outcome=outcome,
        success=success,
        score=score,
        denied=state.denied,
        case_id=None if identifier is None else safe_id(str(identifier)[:1_000]),
        replicate=as_count(fields.get("epoch")),
        file=state.file.name,
    )


def _whole_facts(
    header: Mapping[str, Any],
    stats: Mapping[str, Any],
    usages: Mapping[str, Mapping[str, Any]],
    file: FileLog,
    version: str | None,
) -> RunFacts:
    """What the log says of itself as a whole."""
    start, end = as_ms(stats.get("started_at")), as_ms(stats.get("completed_at"))
    file.seen(start, end)
    reading = InspectUsage(file.name, version)
    costs = [as_amount(usage.get("total_cost")) for usage in usages.values()]
    known = [cost for cost in costs if cost is not None]
    status = as_str(header.get("status"))
    return RunFacts(
        by_model=tuple(
            ModelUsage(
                safe_name(model), reading.tokens(usage, model, None), cost_usd=as_amount(usage.get("total_cost"))
            )
            for model, usage in usages.items()
        ),
        cost_usd=sum(known) if known and len(known) == len(costs) else None,
        duration_ms=max(0, end - start) if start is not None and end is not None else None,
        outcome=None if status is None else safe_name(status),
        file=file.name,
    )


def _check(state: LogState, usages: Mapping[str, Mapping[str, Any]]) -> None:
    """Hold the log's totals by model against its rows, in its own counts."""
    for model, usage in list(usages.items())[:_NAMED_MODELS]:
        reported, found = as_count(usage.get("total_tokens")), state.totals.get(model, 0)
        if reported and reported != found:
            said = (
                f"The log reports {reported:,} tokens of {safe_name(model)}, its samples {found:,}: calls of attempts"
                " that failed, or that no event tells of, are in the first number only."
            )
            state.file.issue(Severity.WARNING, IssueCode.W_TOTAL_MISMATCH, said)

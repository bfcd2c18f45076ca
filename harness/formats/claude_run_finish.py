"""What a whole run of Claude Code says once every line of every file is in.

Order is made here: requests by time where several files hold a thread, compactions between the prompts around them,
branches that were gone back from. This module refuses to repair a number: placeholders stay and are marked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from types import MappingProxyType

from harness.formats.claude_chain import Walked
from harness.formats.claude_lines import PLACEHOLDER_RATIO
from harness.formats.claude_run_gather import Gather
from harness.formats.claude_run_issues import issues
from harness.formats.claude_run_state import MAIN, EventDraft, FileState, ThreadState, TurnDraft
from harness.formats.claude_run_tokens import OBSERVED
from harness.formats.pseudonym import safe_id, safe_name
from kpis.terms.trace import (
    Event,
    EventKind,
    Issue,
    Outcome,
    Provenance,
    Recording,
    Request,
    Thread,
    Tokens,
    ToolCall,
    TraceEvent,
    Turn,
)

__all__ = ["PLACEHOLDER", "events", "finished", "placeholders", "recording"]

PLACEHOLDER = MappingProxyType({**OBSERVED, "out_total": Provenance.PLACEHOLDER})


def finished(gather: Gather, files: Sequence[FileState], source_format: str) -> Iterator[TraceEvent | Issue]:
    """Yield everything gathered as terms, issues last."""
    for file in files:
        yield recording(file, source_format)
    walked = gather.chain.walk()
    for thread in gather.threads.all.values():
        _order(thread)
    requests = list(gather.requests.all.values())
    marked = placeholders(requests, gather.requests.open)
    for request in marked:
        request.tokens.provenance = PLACEHOLDER
    for call in gather.calls.all.values():
        _close(call, gather)
    yield from threads(gather)
    yield from gather.requests.all.values()
    yield from gather.calls.all.values()
    yield from events(gather, walked)
    yield from issues(gather, files, len(marked), walked.phantoms)


def threads(gather: Gather) -> Iterator[TraceEvent]:
    """The threads that hold anything, and their turns."""
    mentioned = {event.thread_id for event in gather.events.all}
    for thread in gather.threads.all.values():
        if thread.turns or thread.thread_id in mentioned:
            yield Thread(thread.thread_id, thread.kind, thread.parent, thread.spawned_by, agent=thread.agent)
        for turn in thread.turns:
            yield _turn(turn)


def recording(file: FileState, source_format: str) -> Recording:
    """What a file says of itself."""
    changes = file.places.changes
    project, branch = file.project, file.branch
    if changes:  # the head of a file may say neither
        project, branch = project or changes[0].project, branch or changes[0].branch
        changes = changes[(changes[0].project, changes[0].branch) == (project, branch) :]
    return Recording(
        source_format,
        source_version=safe_name(file.version, 40) if file.version else None,
        session_id=safe_id(file.session) if file.session else None,
        lines=file.log.lines,
        bad_lines=file.log.bad_lines,
        unknown_kinds=dict(file.unknown),
        t_start=file.first or None,
        t_end=file.last or None,
        file=file.name,
        bytes=file.size,
        project=project,
        branch=branch,
        places=tuple(changes),
    )


def placeholders(requests: Sequence[Request], left_open: Collection[str] = ()) -> list[Request]:
    """The requests whose output count its client never updated: by a whole file's ratio, else by their own.

    Those in ``left_open``, by id, are of them too: their last line does not say what an earlier one began to count.
    """
    by_file: defaultdict[str | None, list[Request]] = defaultdict(list)
    for request in requests:
        if request.tokens.out_total is not None:
            by_file[request.file].append(request)
    marked: list[Request] = []
    for counted in by_file.values():
        output = sum(request.tokens.out_total or 0 for request in counted)
        chars = sum(request.visible_chars or 0 for request in counted)
        if output < PLACEHOLDER_RATIO * chars / 4 and all(request.stop_reason is None for request in counted):
            marked += counted
            continue
        marked += [
            request
            for request in counted
            if request.request_id in left_open
            or (
                request.stop_reason is None
                and (request.tokens.out_total or 0) < PLACEHOLDER_RATIO * (request.visible_chars or 0) / 4
            )
        ]
    return marked


def _order(thread: ThreadState) -> None:
    """Number the requests; by time where several files hold them, since files may overlap."""
    requests = thread.requests
    if len(thread.files) > 1 and all(request.t_first is not None for request in requests):
        requests.sort(key=lambda request: request.t_first or 0)  # stable: the log's order where times are equal
    for index, request in enumerate(requests):
        request.index = index


def _close(call: ToolCall, gather: Gather) -> None:
    if call.request_id is None:
        call.outcome = Outcome.ORPHAN
        return
    request = gather.requests.all.get(call.request_id)
    if request is not None:
        call.in_conversation = request.in_conversation


def _turn(turn: TurnDraft) -> Turn:
    start, end = turn.t_start or None, turn.t_end or None
    return Turn(turn.thread_id, turn.index, turn.kind, start, end, turn.in_conversation)


def events(gather: Gather, walked: Walked) -> Iterator[Event]:
    """All events, those that no line tells among them."""
    for thread in gather.threads.all.values():
        yield from _compactions(thread, gather, walked)
    for event in gather.events.all:
        yield Event(
            event.kind,
            event.thread_id,
            event.t or None,
            event.trigger,
            event.pre_tokens,
            event.post_tokens,
            event.summary_bytes,
            event.line,
            event.file,
            duration_ms=event.duration_ms,
            detail=event.detail,
        )
    for kind, places in ((EventKind.REWIND, walked.rewinds), (EventKind.RESUME, walked.resumes)):
        for at in places:
            where = _where(gather, at)
            if where is not None:
                when, line, file = where
                yield Event(kind, MAIN, when, line=line, file=file)


def _where(gather: Gather, at: int) -> tuple[int | None, int | None, str | None] | None:
    owner = gather.chain.owners[at]
    if isinstance(owner, TurnDraft):
        return owner.t_start or None, owner.line, owner.file
    if isinstance(owner, Request):
        return owner.t_first, owner.line, owner.file
    if isinstance(owner, ToolCall):
        return owner.t_end, owner.line, owner.file
    return None


def _compactions(thread: ThreadState, gather: Gather, walked: Walked) -> Iterator[Event]:
    """Set the prompt behind each compaction, and yield those that no line tells: the prompt falls by more than half.

    The call that wrote the summary is in no file, so what it cost is not known here.
    """
    waiting: defaultdict[int, list[EventDraft]] = defaultdict(list)
    for event in gather.events.all:
        if event.kind is EventKind.COMPACTION and event.thread_id == thread.thread_id:
            waiting[-1 if event.before is None else event.before.index].append(event)
    resumed = {id(gather.chain.owners[at]) for at in walked.resumes} if thread is gather.threads.main else set()
    open_events = waiting[-1]
    before: int | None = None
    turns = {turn.index: id(turn) for turn in thread.turns}
    for request in thread.requests:
        if request.in_conversation:
            prompt = _prompt(request.tokens)
            for event in open_events:
                event.post_tokens = prompt
            fell = before is not None and prompt is not None and prompt * 2 < before
            if fell and not open_events and turns.get(request.turn) not in resumed:
                yield Event(
                    EventKind.COMPACTION,
                    thread.thread_id,
                    request.t_first,
                    pre_tokens=before,
                    post_tokens=prompt,
                    line=request.line,
                    file=request.file,
                    implicit=True,
                )
            open_events = []
            before = prompt
        if request.index in waiting:
            open_events = open_events + waiting[request.index]


def _prompt(tokens: Tokens) -> int | None:
    """As ``tokens.prompt``, which makes a list for each of a million requests."""
    if tokens.fresh_in is None or tokens.cache_read is None:
        return None
    written = (tokens.cache_write_5m or 0) + (tokens.cache_write_1h or 0) + (tokens.cache_write_other or 0)
    return tokens.fresh_in + tokens.cache_read + written

"""The requests of one sample of an Inspect log, and the rows of usage that stand for them.

A spent answer is one model event, known by its own id: ids of responses come from servers, some of which count only to
a thousand. Where a log holds no model events the usage of the sample, one row a model, stands for all requests. This
module refuses to sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.formats.inspect_calls import SampleCalls
from harness.formats.inspect_meaning import provider_of
from harness.formats.inspect_state import LogState
from harness.formats.inspect_threads import SampleThreads
from harness.formats.plain_calls import text_of
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.whole_json import as_amount, as_count, as_dict, as_list, as_ms, as_str
from kpis.terms.trace import Request, RequestStatus, Tokens, UsageScope

__all__ = ["SampleRequests", "usage_row"]

_LONG_ID = 20
"""A response's id of fewer characters is taken to be a counter of its server."""


class SampleRequests:
    """The requests of one sample; ``count`` is how many model events there were, of earlier attempts too."""

    __slots__ = ("_calls", "_next", "_state", "_threads", "count")

    def __init__(self, state: LogState, threads: SampleThreads, calls: SampleCalls) -> None:
        self.count = 0
        self._state = state
        self._threads = threads
        self._calls = calls
        self._next: dict[str, int] = {}

    def made(self, event: Mapping[str, Any], thread_id: str, line: int, kept: bool) -> Request | None:
        """The request that a model event is; None where it was met before.

        ``kept``: the conversation went on from its answer.
        """
        state = self._state
        output, call = as_dict(event.get("output")), as_dict(event.get("call"))
        response = as_dict(call.get("response"))
        model = as_str(event.get("model")) or state.model
        local = event.get("cache") == "read"
        usage = as_dict(output.get("usage"))
        status = _status(event, output)
        t = as_ms(event.get("timestamp"))
        identifier = as_str(event.get("uuid"))
        if identifier is None and not local:
            given = as_str(output.get("response_id")) or as_str(response.get("id"))
            identifier = given if given is not None and len(given) >= _LONG_ID else None
        request_id = None if identifier is None else safe_id(identifier)
        choice = as_dict(next(iter(as_list(output.get("choices"))), None))
        message = as_dict(choice.get("message"))
        self.count += 1
        state.rows += 1
        if model is not None and not local:
            state.totals[model] = state.totals.get(model, 0) + (as_count(usage.get("total_tokens")) or 0)
        known = state.seen.get(request_id or "")
        if known is not None and known.t_first == t:
            known.n_lines += 1
            elsewhere = known.file != state.file.name
            self._calls.asked(message, known.request_id, thread_id, line, kept, copied=elsewhere)
            return None
        index = self._next[thread_id] = self._next.get(thread_id, -1) + 1
        if request_id is None or known is not None:
            request_id = f"{thread_id}#{index}"
        if usage or status is RequestStatus.OK:
            tokens = state.usage.tokens(usage, model, line, response.get("usage"))
        else:
            tokens = Tokens()
        end = as_ms(event.get("completed"))
        self._threads.seen(thread_id, t, end)
        state.file.seen(t, end)
        seconds = [as_amount(each) for each in (event.get("working_time"), output.get("time"), call.get("time"))]
        spent = next((each for each in seconds if each is not None), None)
        retries, stop = as_count(event.get("retries")), as_str(choice.get("stop_reason"))
        provider = provider_of(model)
        request = Request(
            request_id,
            thread_id,
            0,
            index,
            tokens,
            model=None if model is None else safe_name(model),
            status=status,
            stop_reason=None if stop is None else safe_name(stop),
            t_first=t,
            t_last=t if end is None else end,
            in_conversation=kept,
            provider=None if provider is None else safe_name(provider),
            visible_chars=len(text_of(message.get("content")) or "") if choice else None,
            cost_usd=as_amount(usage.get("total_cost")),
            duration_ms=None if spent is None else round(spent * 1_000),
            attempts=None if retries is None else retries + 1,
            local_cache=local,
            file=state.file.name,
            line=line,
        )
        state.seen[request_id] = request
        self._calls.asked(message, request_id, thread_id, line, kept)
        return request

    def rows(self, usages: Mapping[str, Any]) -> Iterator[Request]:
        """The sample's usage by model, which stands for its requests where no event tells of one."""
        state, main = self._state, self._threads.main
        for index, (model, usage) in enumerate(usages.items()):
            told = as_dict(usage)
            state.totals[model] = state.totals.get(model, 0) + (as_count(told.get("total_tokens")) or 0)
            state.rows += 1
            yield usage_row(state, main, index, model, told, UsageScope.THREAD)


def usage_row(
    state: LogState, thread_id: str, index: int, model: str, usage: Mapping[str, Any], scope: UsageScope
) -> Request:
    """The usage of one model over a whole sample or log, as the one row that stands for its requests."""
    return Request(
        f"{thread_id}#usage-{index}",
        thread_id,
        0,
        index,
        state.usage.tokens(usage, model, None),
        model=safe_name(model),
        scope=scope,
        cost_usd=as_amount(usage.get("total_cost")),
        file=state.file.name,
    )


def _status(event: Mapping[str, Any], output: Mapping[str, Any]) -> RequestStatus:
    error = as_str(event.get("error")) or as_str(output.get("error"))
    if event.get("pending") is True or (error or "").startswith("Cancelled by "):
        return RequestStatus.ABORTED
    return RequestStatus.OK if error is None else RequestStatus.ERROR

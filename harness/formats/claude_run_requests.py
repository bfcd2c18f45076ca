"""Requests of a run, each merged from the lines that copy its usage: the last line's output, the largest of the rest.

One response is one message id, whatever its request id and whichever file of the run it stands in; a client behind a
proxy gives no request id. This module refuses to add up lines.
"""

from __future__ import annotations

from harness.formats.claude_run_lines import RunLine, RunMessage, RunUsage
from harness.formats.claude_run_state import FileState, Names, ThreadState
from harness.formats.claude_run_tokens import OBSERVED, tokens_of
from harness.formats.pseudonym import safe_id
from kpis.terms.trace import Request, RequestStatus, Tokens

__all__ = ["Requests"]

_PROVIDERS = {"msg_bdrk": "bedrock", "msg_vrtx": "vertex"}


class Requests:
    """The requests of a run by the ids that the lines give them, and the ones of which something is to be said.

    ``unnamed`` carried no request id; ``settled`` have the output that the stream ended them with; ``shrunk`` end on a
    smaller output than an earlier line; ``open`` end on a line that does not say the output that an earlier one began
    to count; ``split`` part their cache writes into more than there are.
    """

    def __init__(self, names: Names) -> None:
        self.all: dict[str, Request] = {}
        self.unnamed: set[str] = set()
        self.settled: set[str] = set()
        self.shrunk: set[str] = set()
        self.open: set[str] = set()
        self.split: set[str] = set()
        self._names = names
        self._last: Request | None = None
        self._usage: RunUsage | None = None

    def begun(
        self,
        identifier: str,
        line: RunLine,
        message: RunMessage,
        thread: ThreadState,
        turn: int,
        when: int,
        number: int,
        file: FileState,
    ) -> Request:
        """The request of which this is the first line."""
        usage = message.usage
        safe = self._names.safe
        request = Request(
            safe_id(identifier),
            thread.thread_id,
            turn,
            len(thread.requests),
            Tokens() if usage is None else tokens_of(usage),
            None if message.model is None else safe(message.model),
            RequestStatus.ERROR if line.is_api_error_message else RequestStatus.OK,
            None if message.stop_reason is None else safe(message.stop_reason),
            1,
            when or None,
            when or None,
            True,
            _PROVIDERS.get(identifier[:8]),
            visible_chars=0,
            file=file.name,
            line=number,
        )
        if line.cost_usd is not None and 0 <= line.cost_usd < 1e12:
            request.cost_usd = line.cost_usd
        if line.duration_ms is not None and 0 <= line.duration_ms < 1e13:
            request.duration_ms = round(line.duration_ms)
        if thread.retries:
            request.attempts = thread.retries + 1
            thread.retries = 0
        if line.request_id is None:
            self.unnamed.add(request.request_id)
        if usage is not None and usage.cache_creation is not None:
            self._check_split(request, usage)
        thread.files.add(file.name)
        thread.requests.append(request)
        thread.request = self.all[identifier] = self._last = request
        self._usage = usage
        return request

    def again(self, request: Request, line: RunLine, message: RunMessage, when: int) -> None:
        """A further line of a request."""
        request.n_lines += 1
        if when and (request.t_last is None or when > request.t_last):
            request.t_last = when
        if message.stop_reason is not None:
            request.stop_reason = self._names.safe(message.stop_reason)
        if self.unnamed and line.request_id is not None:
            self.unnamed.discard(request.request_id)
        usage = message.usage
        if usage is None:
            return
        tokens = request.tokens
        output = usage.output_tokens
        if output is None:
            if tokens.out_total is not None:
                self.open.add(request.request_id)
        elif self.open:
            self.open.discard(request.request_id)
        if output is not None and output != tokens.out_total:
            if tokens.out_total is None or output > tokens.out_total:
                tokens.out_total = output
                self.shrunk.discard(request.request_id)
            else:
                self.shrunk.add(request.request_id)
        before = self._usage
        if (
            request is self._last
            and before is not None
            and usage.input_tokens == before.input_tokens
            and usage.cache_read_input_tokens == before.cache_read_input_tokens
            and usage.cache_creation_input_tokens == before.cache_creation_input_tokens
            and usage.cache_creation == before.cache_creation
        ):
            return
        self._last, self._usage = request, usage
        self._widen(request, usage)

    def _widen(self, request: Request, usage: RunUsage) -> None:
        """The largest of each counter."""
        tokens = request.tokens
        creation = usage.cache_creation
        total = _larger(usage.cache_creation_input_tokens, tokens.cache_write)
        tokens.fresh_in = _larger(usage.input_tokens, tokens.fresh_in)
        tokens.cache_read = _larger(usage.cache_read_input_tokens, tokens.cache_read)
        if creation is not None:
            tokens.cache_write_5m = _larger(creation.ephemeral_5m_input_tokens, tokens.cache_write_5m)
            tokens.cache_write_1h = _larger(creation.ephemeral_1h_input_tokens, tokens.cache_write_1h)
            self._check_split(request, usage)
        if total is not None:
            tokens.cache_write_other = max(0, total - (tokens.cache_write_5m or 0) - (tokens.cache_write_1h or 0))
        tokens.provenance = OBSERVED

    def _check_split(self, request: Request, usage: RunUsage) -> None:
        creation, total = usage.cache_creation, usage.cache_creation_input_tokens
        if creation is not None and total is not None:
            parts = (creation.ephemeral_5m_input_tokens or 0) + (creation.ephemeral_1h_input_tokens or 0)
            if parts > total:
                self.split.add(request.request_id)

    def settle(self, identifier: str, output: int) -> None:
        """The stream ended the response of that id with ``output`` tokens."""
        request = self.all.get(identifier)
        if request is not None:
            request.tokens.out_total = _larger(request.tokens.out_total, output)
            self.settled.add(request.request_id)
            self.open.discard(request.request_id)


def _larger(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)

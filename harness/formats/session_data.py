"""What the turn probes replay: a session as planning turns, each with the messages that were new in it.

A turn in the ladder's sense is one agent step, that is one model request. Turns by human prompts would be few and
long, and a planner runs before every request, so there is one planning turn a request: it holds what arrived since the
request before (the assistant's own output first, then results and prompts). The output of a request therefore belongs
to the next turn. Prompts or results at the end that no request answered make a last turn, since planning was due.
This module refuses to leave the conversation: sub-agents and branches that were gone back from are left out.
"""

from __future__ import annotations

from typing import Any

from harness.formats.pseudonym import Head
from kpis.terms.trace import Node, Request, ThreadKind, Trace

__all__ = ["session_data"]


def session_data(trace: Trace) -> dict[str, Any]:
    """The planning turns of the main thread's conversation (of the first thread, where a file holds no main one).

    Returns ``{"turns": [{"messages": [{"role", "head", "bytes", "digest"}]}], "requests": [...], "facts": {...}}``:
    role is system, user, assistant or tool; head a pseudonymised first line; bytes the size in UTF-8; digest 32 hex
    digits, equal for equal bodies. A user's message has ``words`` besides, the distinct pseudonymised words of its
    whole body, because a planner reads its intents off all of it; of the other roles nothing is kept below the first
    line. Facts count ``steps``, ``messages``, ``bytes`` and ``messages_left_out`` (of the main thread: abandoned ones,
    and a final answer that nothing followed). ``requests`` are those of all threads and branches, since all of them
    were answered: ``{"read", "written", "prompt", "local"}``, tokens that a cache is said to have held or taken, None
    where nothing is said, and whether it was a cache of the client.
    """
    thread = _main(trace)
    steps = sum(1 for each in trace.requests if each.thread_id == thread and each.in_conversation)
    turns: list[list[dict[str, Any]]] = [[] for _ in range(steps)]
    waiting: list[dict[str, Any]] = []
    left_out = 0
    for node in trace.nodes:
        if node.thread_id != thread:
            continue
        if node.step is not None:
            turns[node.step].append(_message(node))
        elif node.in_conversation:
            waiting.append(_message(node))
        else:
            left_out += 1
    if any(message["role"] != "assistant" for message in waiting):
        turns.append(waiting)
    else:
        left_out += len(waiting)
    return {
        "turns": [{"messages": messages} for messages in turns],
        "requests": [_request(request) for request in trace.requests if not request.copied],
        "facts": {
            "steps": len(turns),
            "messages": sum(map(len, turns)),
            "bytes": sum(message["bytes"] for messages in turns for message in messages),
            "messages_left_out": left_out,
        },
    }


def _main(trace: Trace) -> str | None:
    mains = [thread.thread_id for thread in trace.threads if thread.kind is ThreadKind.MAIN]
    others = [thread.thread_id for thread in trace.threads]
    return next(iter(mains or others), None)


def _request(request: Request) -> dict[str, Any]:
    tokens = request.tokens
    return {
        "read": tokens.cache_read,
        "written": tokens.cache_write,
        "prompt": tokens.prompt,
        "local": request.local_cache,
    }


def _message(node: Node) -> dict[str, Any]:
    head = node.head
    message = {"role": node.role, "head": str(head), "bytes": node.bytes, "digest": node.digest}
    if isinstance(head, Head):
        message["words"] = head.words
    return message

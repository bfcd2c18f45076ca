"""Set-up against a runtime whose methods may be coroutine functions: awaited where they are, at once where not.

Nothing is measured here and no event loop is started: what has to be awaited goes back to the worker, which awaits it
on the one loop that the runtime's own tasks live on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

from harness.measure.clock import is_async

__all__ = ["at_once", "awaits", "finish", "settled"]

_UNSAID = "A method of the runtime returned an awaitable without being a coroutine function: declare it async."


def awaits(owner: Any, *methods: str) -> bool:
    """Whether any of these methods of ``owner`` is a coroutine function; one that it lacks is not."""
    return any(is_async(getattr(owner, name, None)) for name in methods)


async def settled(value: Any) -> Any:
    """``value``, awaited where it is awaitable."""
    return await value if inspect.isawaitable(value) else value


def at_once(work: Coroutine[Any, Any, Any], otherwise: str = _UNSAID) -> Any:
    """What ``work`` returns, driven to its end without an event loop.

    Raises:
        TypeError: it waits for something, which only a running loop could bring; ``otherwise`` is the sentence.
    """
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise TypeError(otherwise)


def finish(opening: Coroutine[Any, Any, Any], *methods: Callable[..., object], waits: bool = False) -> Any:
    """What ``opening`` returns; or ``opening`` itself where one of ``methods`` is async, or ``waits`` is true.

    A synchronous runtime suspends nowhere, so its opening ends at the first step.

    Raises:
        TypeError: a method waits for something although no method said that it would.
    """
    return opening if waits or any(is_async(method) for method in methods) else at_once(opening)

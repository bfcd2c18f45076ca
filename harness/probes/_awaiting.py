"""Set-up against a runtime whose methods may be coroutine functions: awaited where they are, at once where not.

Nothing is measured here and no event loop is started: what has to be awaited goes back to the worker, which awaits it
on the one loop that the runtime's own tasks live on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

__all__ = ["awaits", "finish", "settled"]


def awaits(owner: Any, *methods: str) -> bool:
    """Whether any of these methods of ``owner`` is a coroutine function; one that it lacks is not."""
    return any(inspect.iscoroutinefunction(getattr(owner, name, None)) for name in methods)


async def settled(value: Any) -> Any:
    """``value``, awaited where it is awaitable."""
    return await value if inspect.isawaitable(value) else value


def finish(opening: Coroutine[Any, Any, Any], *methods: Callable[..., object], waits: bool = False) -> Any:
    """What ``opening`` returns; or ``opening`` itself where one of ``methods`` is async, or ``waits`` is true.

    A synchronous runtime suspends nowhere, so its opening ends at the first step.

    Raises:
        TypeError: a method waits for something although no method said that it would.
    """
    if waits or any(inspect.iscoroutinefunction(method) for method in methods):
        return opening
    try:
        opening.send(None)
    except StopIteration as done:
        return done.value
    opening.close()
    raise TypeError(
        "A method of the runtime returned an awaitable without being a coroutine function: declare it async."
    )

"""Calls that have an input of their own each, of which one is drawn whose result is held until it is looked at.

Which one it is nobody can know: a runtime that answers from what it remembers, or that does its work only where it
expects to be looked at, has to be right on all of them. Nothing is read from a clock here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import SystemRandom
from typing import Any

from harness.measure.clock import is_async, repeat

__all__ = ["CHANCE", "Drawn"]

CHANCE = SystemRandom()
"""What is drawn here is told to nobody, and is another in each process."""


class Drawn:
    """One call of ``method`` for each of ``given``. ``result`` is what the call of the input number ``at`` returned.

    ``method`` takes one of ``given`` as its argument, and may be a coroutine function.
    """

    __slots__ = ("_given", "_method", "at", "result")

    def __init__(self, method: Callable[[Any], Any], given: Sequence[Any]) -> None:
        self._method = method
        self._given = given
        self.at = CHANCE.randrange(len(given))
        self.result: Any = None

    def calls(self) -> Callable[[], object]:
        """All calls as one batch, in the order of the inputs; the result of the last."""
        following, method, drawn = enumerate(self._given).__next__, self._method, self.at
        if is_async(method):

            async def one_async() -> object:
                at, given = following()
                result = await method(given)
                if at == drawn:
                    self.result = result
                return result

            return repeat(one_async, len(self._given))

        def one() -> object:
            at, given = following()
            result = method(given)
            if at == drawn:
                self.result = result
            return result

        return repeat(one, len(self._given))

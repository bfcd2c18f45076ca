"""What a prefix cache says that it holds, held against what a cache under its budget could hold at all.

Before and after every request the cache is asked about all that came, the coming one among them, in an order that is
drawn. Its answers have to be one tree within the budget, and between two rounds that tree may only lose tokens, but for
the request that was put there: a cache that hides what is too much would have to bring it back from nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from harness.measure.clock import WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.session._drawn import CHANCE
from kpis.formulas.session.radix import common_prefix, distinct_tokens
from seams.contract.radix import PrefixCache

__all__ = ["Watch"]

_STRANGE = 0xFFFF
"""An id that no request begins with, nor holds."""

Request = tuple[int, ...]


class Watch:
    """Holds the answers of one cache together; ``budget`` is in tokens, 0 where there is none."""

    def __init__(self, cache: PrefixCache, budget: int) -> None:
        self._cache = cache
        self._budget = budget
        self._held: dict[Request, int] = {}

    async def look(self, seen: Sequence[Request], put: Request | None = None) -> Mapping[Request, int]:
        """The tokens that are said to be cached of each of ``seen``; ``put`` is what was put there since the last look.

        Raises:
            WorkNotDoneError: the answers are no tree, are more than the budget, or hold what was not there and was
                not put there; or something is said to be cached of a prompt that never came.
        """
        strangers = {(_STRANGE, *request) for request in seen[-1:]}
        asked = [*set(seen), *strangers]
        CHANCE.shuffle(asked)
        held = {request: await settled(self._cache.match_len(request)) for request in asked}
        for stranger in strangers:
            # One that answers for prompts it never saw would answer for these.
            if found := held.pop(stranger):
                raise WorkNotDoneError(f"{found} tokens of a prompt that never came are said to be cached")
        if any(not 0 <= tokens <= len(request) for request, tokens in held.items()):
            raise WorkNotDoneError("more tokens of a request are said to be cached than it has, or fewer than none")
        _require_tree(held)
        total = distinct_tokens(request[:tokens] for request, tokens in held.items())
        if self._budget and total > self._budget:
            raise WorkNotDoneError(f"the cache says it holds {total} tokens, of {self._budget}")
        self._require_put(held, put)
        self._held = held
        return held

    def _require_put(self, held: dict[Request, int], put: Request | None) -> None:
        """What was asked about before has grown by what was put there, and by nothing else."""
        for request, before in self._held.items():
            most = max(before, common_prefix(request, put) if put else 0)
            if held.get(request, 0) > most:
                said = f"{held[request]} tokens of a request are said to be cached, of which {most} can be"
                raise WorkNotDoneError(f"{said}: nobody put the others there")


def _require_tree(held: dict[Request, int]) -> None:
    """What is held of one request is held of every other that begins alike.

    Of sorted requests it is enough to look at neighbours: two that are apart have in common what all between them have.
    """
    for pair in pairwise(sorted(held)):
        shared = common_prefix(*pair)
        found = [min(held[request], shared) for request in pair]
        if found[0] != found[1]:
            raise WorkNotDoneError(
                f"of {shared} tokens that two requests begin with, {found[0]} are said to be cached and {found[1]}"
            )

"""The loop over a real repository, as the reference runtime offers it: run, track, and how far the baseline has moved.

Zero candidates are refused: a rate over no cycle is no rate.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path

from seams.contract import Engine
from seams.contract.rsi_loop import Candidate, Charge, Freshness, Observer, Result, Tracked
from seams.rsi.errors import LoopError
from seams.rsi.ground import find, freshness
from seams.rsi.session import LoopSession
from seams.rsi.track import track

__all__ = ["ReferenceLoop", "offer"]


class ReferenceLoop:
    """See :class:`seams.contract.rsi_loop.Loop`. ``confine`` is whether the kernel is asked to confine candidates."""

    def __init__(self, *, confine: bool = True) -> None:
        self._confine = confine

    def open(self, charge: Charge, observer: Observer | None = None) -> LoopSession:
        """Look at the repository, pin the commit and measure it once.

        Raises:
            LoopError: the loop cannot begin there; nothing has changed.
        """
        return LoopSession(charge, observer, confine=self._confine)

    def run(self, charge: Charge, candidates: Iterable[Candidate], observer: Observer | None = None) -> Result:
        """Try candidates until they end, the breaker trips, ``max_cycles`` are done, or the loop halts.

        Raises:
            LoopError: there is no candidate, or the loop cannot begin; nothing has changed. Once it has begun, what
                stops it is in ``halted``, and all that was kept until then stays.
        """
        if not isinstance(candidates, Iterable):
            raise LoopError(
                f"The candidates are {type(candidates).__name__}, which are none in a row. See what one is: "
                "python -c 'import seams.contract.rsi_loop as it; help(it.Candidate)'"
            )
        following = iter(candidates)
        first = list(islice(following, 1))
        if not first:
            raise LoopError(
                "There are no candidates, so there is nothing to try. See what a loop counts: "
                "python -m harness explain keep_rate"
            )
        session = self.open(charge, observer)
        try:
            for number, candidate in enumerate(chain(first, following), start=1):
                session.cycle(candidate)
                if session.over or number == charge.max_cycles:
                    break
        except LoopError:
            pass  # the session holds the sentence
        finally:
            result = session.close()
        return result

    def track(self, charge: Charge) -> Tracked:
        """Measure what the reference names now, write a track row, and hold it against the last one.

        Raises:
            LoopError: as :meth:`open`.
        """
        return track(charge, confine=self._confine)

    def freshness(self, repository: Path, baseline_ref: str, ref_name: str) -> Freshness:
        """Ask the repository anew whether ``ref_name`` still names ``baseline_ref``.

        Raises:
            LoopError: it is no repository, or a bare or shallow one.
        """
        return freshness(find(repository), baseline_ref, ref_name)


def offer(engine: Engine) -> ReferenceLoop | None:
    """A loop; nothing in it is an engine that could be cut out."""
    return ReferenceLoop() if engine == "none" else None

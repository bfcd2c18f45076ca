"""The keep-bit and the breaker: pure decisions over signals, and a count of the changes in a row that were not kept.

Whether a change was kept is not stored: it is what :func:`required` says of its signals, here and wherever a row of a
journal is read again. Python cannot hide a bit from whoever wants to set it, so there is none to set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import PurePosixPath

from seams.contract import Engine
from seams.contract.rsi_breaker import Decision, Profile, Ruling, Signals

__all__ = ["DEFAULT_K", "CountingBreaker", "ReferenceBreakers", "evaluate", "improved", "offer", "proven", "required"]

DEFAULT_K = 3

_DOCS = frozenset({".md", ".rst", ".txt", ".adoc"})


def improved(signals: Signals) -> bool:
    """Whether the metric moved the right way; to stay where it was is no gain, and neither is not to be measured.

    Raises:
        TypeError: a value is no plain number, as a time of the loop's clock is not.
        ValueError: a value is not finite.
    """
    before, after = _number(signals.before), signals.after
    if after is None:
        return False
    after = _number(after)
    return after < before if signals.lower_better else after > before


def _number(value: object) -> float:
    if type(value) not in (int, float):  # a subclass could carry anything
        raise TypeError(f"A decision is made of plain numbers, and {type(value).__name__} is none.")
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"A decision is made of finite numbers, and {value!r} is none.")
    return value


def required(signals: Signals) -> bool:
    """Whether all signals that the profile asks for are there."""
    gain = improved(signals)
    match signals.profile:
        case Profile.DOCS_ONLY:
            return signals.truth_clean
        case Profile.PROOF_CARRYING:
            return gain and signals.truth_clean
        case _:  # the strictest for what nobody knows
            return gain and signals.suite_green and signals.truth_clean


def evaluate(signals: Signals) -> Decision:
    """Keep or revert, without regard to what came before."""
    return Decision.KEEP if required(signals) else Decision.REVERT


def proven(profile: Profile, touched: Iterable[str]) -> Profile:
    """The profile that a change may claim, by the paths it touches: documents only where there are some, and no others.

    A document is a file that says so by its suffix, in a folder ``docs`` or at the top. What is no profile at all is
    held to the strictest.
    """
    if profile is Profile.DOCS_ONLY:
        paths = [PurePosixPath(path) for path in touched]
        return profile if paths and all(_document(path) for path in paths) else Profile.FULL
    return profile if profile is Profile.PROOF_CARRYING else Profile.FULL


def _document(path: PurePosixPath) -> bool:
    return path.suffix.lower() in _DOCS and (len(path.parts) == 1 or path.parts[0] == "docs") and ".." not in path.parts


class CountingBreaker:
    """Trips at the ``k``-th change in a row that is not kept, and at each one after it: only a keep sets it back."""

    def __init__(self, k: int = DEFAULT_K) -> None:
        self.k = k if k > 0 else DEFAULT_K
        self.nonkeeps = 0

    def record(self, signals: Signals) -> Ruling:
        """Decide about one change, and count."""
        if evaluate(signals) is Decision.KEEP:
            self.nonkeeps = 0
            return Ruling(Decision.KEEP, 0)
        self.nonkeeps += 1
        return Ruling(Decision.ESCALATE if self.nonkeeps >= self.k else Decision.REVERT, self.nonkeeps)


class ReferenceBreakers:
    """Makes a breaker a run."""

    def breaker(self, k: int = DEFAULT_K) -> CountingBreaker:
        """A fresh breaker."""
        return CountingBreaker(k)


def offer(engine: Engine) -> ReferenceBreakers | None:
    """The breakers; there is no engine in them."""
    return ReferenceBreakers() if engine == "none" else None

"""What a session must have checked after a sleep, by how long it was.

A rung clears one thing that may have gone stale. Those of a band are asked in order and up to the first refusal; one
that nobody brought refuses, because what was not checked is not known to hold. Nothing is refreshed here.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract.image import Band, Rung, Session, Stale, Woken

__all__ = ["RUNGS", "band_of", "woken"]

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400

_ENDS = (
    (5 * _MINUTE, Band.WARM),
    (_HOUR, Band.COOL),
    (_DAY, Band.COLD),
    (30 * _DAY, Band.FROZEN),
)

_COOL = (Stale.COLD_CACHE,)
_COLD = (*_COOL, Stale.STALE_CRED, Stale.STALE_RECALL)
_FROZEN = (*_COLD, Stale.STALE_LEASE, Stale.STALE_PLAN)

RUNGS: dict[Band, tuple[Stale, ...]] = {
    Band.WARM: (),
    Band.COOL: _COOL,
    Band.COLD: _COLD,
    Band.FROZEN: _FROZEN,
    Band.ANCIENT: _FROZEN,
}
"""What has to be cleared in each band, by the band from which it counts and then by name."""


def band_of(gap: int) -> Band:
    """The band of a sleep of ``gap`` seconds; each begins where the one before ends. A clock that went back is warm."""
    return next((band for end, band in _ENDS if gap < end), Band.ANCIENT)


def woken(session: Session, gap: int, rungs: Sequence[Rung] | None) -> Woken:
    """What the ``rungs`` say of a session that slept for ``gap`` seconds; None: nobody is asked, and nothing is said.

    Raises:
        ValueError: two rungs clear the same thing, so that it is not known whose word counts.
    """
    band = band_of(gap)
    if rungs is None:
        return Woken(band, (), None)
    by_reason = {rung.reason: rung for rung in rungs}
    if len(by_reason) < len(rungs):
        raise ValueError("Two rungs clear the same thing; bring one for each.")
    ran: list[tuple[Stale, bool]] = []
    for reason in RUNGS[band]:
        rung = by_reason.get(reason)
        ran.append((reason, rung is not None and rung.clears(session) is True))
        if not ran[-1][1]:
            return Woken(band, tuple(ran), False)
    return Woken(band, tuple(ran), True)

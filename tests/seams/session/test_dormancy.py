"""How long a session slept, and who is asked before it goes on."""

from __future__ import annotations

import pytest

from seams.contract.image import Band, Rung, Session, Stale
from seams.session.dormancy import RUNGS, band_of, woken

SESSION = Session("desk-7")
DAY = 86_400


@pytest.mark.parametrize(
    ("gap", "band"),
    [
        (-5, Band.WARM),
        (0, Band.WARM),
        (299, Band.WARM),
        (300, Band.COOL),
        (3_599, Band.COOL),
        (3_600, Band.COLD),
        (DAY - 1, Band.COLD),
        (DAY, Band.FROZEN),
        (30 * DAY - 1, Band.FROZEN),
        (30 * DAY, Band.ANCIENT),
    ],
)
def test_each_band_begins_where_the_one_before_ends(gap: int, band: Band) -> None:
    assert band_of(gap) is band


def test_the_longer_the_sleep_the_more_has_to_clear() -> None:
    assert [len(RUNGS[band]) for band in Band] == [0, 1, 3, 5, 5]
    assert RUNGS[Band.COLD] == (Stale.COLD_CACHE, Stale.STALE_CRED, Stale.STALE_RECALL)
    assert set(RUNGS[Band.ANCIENT]) == set(Stale)


def rungs(refuse: Stale | None = None, asked: list | None = None) -> list[Rung]:
    def clears(reason: Stale):
        def ask(session: Session) -> bool:
            if asked is not None:
                asked.append(reason)
            return reason is not refuse

        return ask

    return [Rung(reason, clears(reason)) for reason in reversed(Stale)]


def test_rungs_run_in_their_own_order_up_to_the_first_refusal() -> None:
    asked: list[Stale] = []
    found = woken(SESSION, DAY, rungs(Stale.STALE_RECALL, asked))
    assert asked == [Stale.COLD_CACHE, Stale.STALE_CRED, Stale.STALE_RECALL]
    assert found.ran == ((Stale.COLD_CACHE, True), (Stale.STALE_CRED, True), (Stale.STALE_RECALL, False))
    assert found.admitted is False
    assert woken(SESSION, 40 * DAY, rungs()).admitted is True
    assert woken(SESSION, 0, []).admitted is True


def test_what_nobody_checks_is_not_cleared_and_no_rungs_at_all_are_no_yes() -> None:
    found = woken(SESSION, 300, [])
    assert (found.ran, found.admitted) == (((Stale.COLD_CACHE, False),), False)
    assert woken(SESSION, 300, None).admitted is None
    truthy = woken(SESSION, 300, [Rung(Stale.COLD_CACHE, lambda session: "yes")])  # type: ignore[arg-type,return-value]
    assert truthy.admitted is False


def test_a_rung_for_nothing_that_is_known_is_refused_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="No rung is called 'stale_hope'; take one of cold_cache"):
        Rung("stale_hope", lambda session: True)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Two rungs clear the same thing"):
        woken(SESSION, 0, rungs() + rungs())

"""Situations before a launch, authored: what every check would answer, and what then has to be said.

They are a fleet under pressure: at the cap and just below it, with each thing in the way that can be, and each check
broken once. Where the answer hangs on how much a host is taken to carry, which is a runtime's own to say, ``due`` is
open, and the gate may admit or find itself at its cap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn

from kpis.formulas.fleet.preflight import cap, host_capacity, live, verdict
from seams.contract.fleet_preflight import Checks, Flagged, Host, Loop, Seats

__all__ = ["SITUATIONS", "Situation", "calm"]

_ROOMY = Host(64, 128_000, 1_000)
_BELOW = Loop(2, 6)
_HELD = Seats(4, 0, 4, True)


@dataclass(frozen=True, slots=True)
class Situation:
    """What the checks answer; ``failing`` names those that raise, and ``open`` says that capacity decides."""

    name: str
    flagged: tuple[Flagged, ...] = ()
    account: str | None = "account-1"
    loop: Loop = _BELOW
    seats: Seats | None = None
    host: Host = _ROOMY
    workers: int = 2
    max_workers: int = 8
    failing: frozenset[str] = frozenset()
    open: bool = False

    def checks(self, called: list[str]) -> Checks:
        """The checks; each call is noted in ``called``."""
        answers = {name: getattr(self, name) for name in Checks._fields}
        return Checks(**{name: self._check(name, answer, called) for name, answer in answers.items()})

    def _check(self, name: str, answer: Any, called: list[str]) -> Callable[[], Any]:
        def ask() -> Any:
            called.append(name)
            return _fail(name) if name in self.failing else answer

        return ask

    @property
    def due(self) -> str:
        """What the rule says of it."""
        seats = None if self.seats is None or "seats" in self.failing else self.seats
        carried = host_capacity(*self.host)
        total = None if seats is None else seats.total
        return verdict(
            failed=bool(self.failing - {"account", "seats"}),
            safe=all(each.protected and not each.backend for each in self.flagged),
            depleted=seats is not None and seats.depleted,
            seats=total,
            leased=0 if seats is None else seats.leased,
            cap_before_seats=cap(self.max_workers, self.loop.target, carried, None),
            cap=cap(self.max_workers, self.loop.target, carried, total),
            live=live(self.loop.alive, self.loop.target, self.workers),
            account=self.account is not None and "account" not in self.failing,
        )


def _fail(name: str) -> NoReturn:
    raise TimeoutError(f"the check {name} had not ended in time")


def calm() -> Situation:
    """Room everywhere."""
    return Situation("room everywhere")


_FAILING = tuple(
    Situation(f"the check {name} fails", failing=frozenset({name})) for name in Checks._fields if name != "seats"
)

SITUATIONS: Sequence[Situation] = (
    calm(),
    Situation("one below the aim", loop=Loop(5, 6), workers=5),
    Situation("at the aim", loop=Loop(6, 6), workers=6),
    Situation("above the aim", loop=Loop(9, 6), workers=3),
    Situation("the machine shows more than the loop knows", loop=Loop(1, 6), workers=6),
    Situation("no aim, so the loop's own count is not asked", loop=Loop(50, 0), workers=7),
    Situation("no aim, at what is configured", loop=Loop(0, 0), workers=8),
    Situation("configured to none", max_workers=0, loop=Loop(0, 0), workers=0),
    Situation("configured to 2, aiming at 3", max_workers=2, loop=Loop(2, 3)),
    Situation("a process beside the agents takes the host", flagged=(Flagged(4_000, "build"),)),
    Situation("a process that is protected does", flagged=(Flagged(1, "init", protected=True),)),
    Situation(
        "a protected one that agents run on does", flagged=(Flagged(9, "backend", protected=True, backend=True),)
    ),
    Situation("all seats taken", seats=_HELD),
    Situation("seats depleted that nobody holds", seats=Seats(4, 0, 0, True), loop=Loop(1, 6), workers=1),
    Situation("more seats than the cap, and depleted", seats=Seats(40, 0, 40, True)),
    Situation("a seat is free", seats=Seats(4, 1, 3, False), workers=3, loop=Loop(3, 6)),
    Situation("seats limit, and as many live", seats=Seats(2, 0, 2, False)),
    Situation("no view of the seats", seats=_HELD, failing=frozenset({"seats"})),
    Situation("no account", account=None),
    Situation("no account and at the aim", account=None, loop=Loop(6, 6), workers=6),
    Situation("cores limit, and there is room", host=Host(8, 64_000, 500), open=True),
    Situation("cores limit, and there is none", host=Host(4, 64_000, 500), open=True),
    Situation("memory limits, and there is room", host=Host(32, 5_000, 500), open=True),
    Situation("memory limits, and there is none", host=Host(32, 3_000, 2_000), open=True),
    Situation("threads limit, and there is room", host=Host(8, 64_000, 2_500), open=True),
    Situation("threads limit, and there is none", host=Host(8, 64_000, 200_000), open=True),
    Situation("nothing known of the host", host=Host(None, None, None)),
    *_FAILING,
)

ANSWERS: Mapping[str, tuple[str, ...]] = MappingProxyType({"open": ("SPAWN_OK", "REFUSE_AT_CAP")})
"""What may be said of a situation that capacity decides."""

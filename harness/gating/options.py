"""What a gate was asked for, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["GateOptions"]


@dataclass(frozen=True, slots=True)
class GateOptions:
    """``inject`` maps a point (``kpi`` or ``kpi[k=v,...]``) to the factor by which the head is slowed down."""

    against: str
    layers: tuple[str, ...] = ()
    kpis: tuple[str, ...] = ()
    pytest: str | None = None
    """Tests in place of KPIs: a folder, a file or a node id, relative to the project's root."""
    all_params: bool = False
    time_unchanged: bool = False
    exact_legs: bool = False
    budget_s: float | None = None
    strict: bool = False
    plan: bool = False
    inject: dict[str, float] = field(default_factory=dict)
    resume: bool = False
    limit_s: float = 60.0
    """Seconds that one worker, or one pair, may take."""

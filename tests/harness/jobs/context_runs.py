"""What the tests of context metrics share: a run with a fold in it, and readers of files and folders of such runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.jobs.replay import Asked, replay
from harness.record.replay import Replayed
from kpis.prices import shipped_prices
from tests.kpis.context.lines import action, end, fold, header, node, recall, request, text_of, usage, verdict

TABLE = shipped_prices()
ANCHOR = {"type": "anchor", "anchor_id": "k", "kind": "rule", "authority": "normative", "lifecycle": "active"}


def run(
    *, after: int = 50, shown: tuple[str, ...] = ("k",), passed: bool = True, env: str | None = "e", **told: Any
) -> bytes:
    """A run of two prompts with a fold between them: SPT 10, IST 40, R = 90 - ``after``, one repeat of two reads."""
    return text_of(
        header(**told),
        request(1, [node("s", 10, "system"), node("u", 40)], usage=usage(50, 0)),
        action(2, request_id="q1", env=env),
        {**ANCHOR, "seq": 3, "provenance_ok": True},
        fold(4, 90, after, checkpoint_id="cp"),
        request(5, [node("s", 10, "system"), node("c", 20, "checkpoint", checkpoint_id="cp")], usage=usage(20, 10)),
        action(6, request_id="q5", env=env),
        {**recall(7, ["cp"], returned=8), "request_id": "q5"},
        {"type": "presented", "seq": 8, "at": "final", "anchors": list(shown)},
        verdict(9, passed=passed),
        end(10, score=0.5),
    )


def read(*paths: Path, processes: int = 1) -> Replayed:
    return replay([str(path) for path in paths], Asked(TABLE, ledger=True), processes=processes)

"""A small project with committed runs of its own, and the ways in which somebody might spoil it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.record.run import Machine, Mode, Run, Selection, SourceTree, WorkloadRecord, encode
from kpis.terms.kpi import Direction, Estimand, Gate, Layer, Status
from kpis.terms.quantity import Basis, Source, Unit
from kpis.terms.reading import Distribution, Leg, Reading, ReadingKind, Reason, Undefined

SLUG = "linux-x86_64-2c-test"

ROWS = """\
[seam."own/fold"]
title = "Results are folded"

[seam."own/send"]
title = "Results are sent"

[kpi.fold_ns]
layer = "turn"
seam = "own/fold"
probe = "bench.fold:Fold"
question = "How long?"
fence = "Ours."
unit = "ns"
direction = "lower"
estimand = "call-mean"
params = { n = ["9", "10"] }

[kpi.send_ns]
layer = "turn"
seam = "own/send"
probe = "bench.send:Send"
question = "How long?"
fence = "Ours."
unit = "ns"
direction = "lower"
estimand = "call-mean"

[kpi.hit_rate]
layer = "syscall"
seam = "own/fold"
probe = "bench.fold:Hits"
question = "How often?"
fence = "Ours."
unit = "ratio"
direction = "higher"
estimand = "rate"

[kpi.saved_tok]
layer = "turn"
seam = "own/fold"
probe = "bench.fold:Saved"
question = "How much?"
fence = "A model."
unit = "tok"
direction = "higher"
estimand = "count"
gate = "report"
knobs = { per_turn = 1320 }

[kpi.cached_tok]
layer = "turn"
seam = "own/fold"
probe = "bench.fold:Cached"
question = "How much?"
fence = "The provider's word."
unit = "tok"
direction = "higher"
estimand = "count"
gate = "report"
"""

RETIRED = """
[retired.spool_ns]
reason = "It timed the engine."
on = 2026-12-01
replacement = "fold_ns"
"""

FILES = {
    "pyproject.toml": '[tool.harness]\nkpis = ["bench/*.toml"]\nruntime = "app.made:make"\n',
    "bench/own.toml": ROWS,
    "bench/__init__.py": "",
    "bench/fold.py": "from app.folding import fold\n",
    "bench/send.py": "def Send():\n    from app import sending\n",
    "app/__init__.py": "",
    "app/made.py": "def make():\n    return None\n",
    "app/folding.py": "from . import words\n",
    "app/words.py": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import app.sending\n",
    "app/sending.py": "",
    "app/by_name.py": "",
}

SOURCES = [name for name in FILES if name.endswith(".py")]

FOLD = Reading(
    kpi="fold_ns",
    layer=Layer.TURN,
    params={"n": "9"},
    runtime="app.made:make",
    workload=None,
    leg=Leg.MAIN,
    kind=ReadingKind.TIMED,
    value=1743.0,
    undefined=None,
    unit=Unit.NS,
    direction=Direction.LOWER,
    status=Status.STANDING,
    basis=Basis.CLOCK,
    source=Source.SYNTHETIC,
    estimand=Estimand.CALL_MEAN,
    isolation="none",
    gate=Gate.TIMED,
    critical=False,
    distribution=Distribution("process values", 12, 1743.0, (1723.0, 1762.0), 1700.0, 0.01),
)
FOLD_10 = replace(
    FOLD,
    params={"n": "10"},
    value=2001.0,
    distribution=Distribution("process values", 12, 2001.0, (1990.0, 2010.0), None, None),
)
SEND = replace(
    FOLD,
    kpi="send_ns",
    params={},
    source=Source.REPLAY,
    workload="mine",
    value=5400.0,
    distribution=Distribution("process values", 12, 5400.0, (5300.0, 5500.0), None, None),
)
RATE = replace(
    FOLD,
    kpi="hit_rate",
    layer=Layer.SYSCALL,
    params={},
    kind=ReadingKind.RATE,
    value=91 / 247,
    unit=Unit.RATIO,
    direction=Direction.HIGHER,
    basis=Basis.COUNT,
    estimand=Estimand.RATE,
    gate=Gate.EXACT,
    isolation=None,
    numerator=91,
    denominator=247,
    excluded=0,
    histogram={"a|b": 60, "c": 31},
    distribution=None,
)
MODEL = replace(
    FOLD,
    kpi="saved_tok",
    params={},
    kind=ReadingKind.MODELED,
    value=172_920,
    unit=Unit.TOK,
    direction=Direction.HIGHER,
    status=Status.MODELED,
    basis=Basis.MODEL,
    estimand=Estimand.COUNT,
    gate=Gate.REPORT,
    isolation=None,
    numerator=172_920,
    knobs={"per_turn": 1320.0},
    distribution=None,
)
REPORTED = replace(
    MODEL,
    kpi="cached_tok",
    kind=ReadingKind.COUNT,
    value=12_345,
    status=Status.STANDING,
    basis=Basis.REPORTED,
    source=Source.REPLAY,
    workload="mine",
    numerator=12_345,
    knobs=None,
)
NOTHING = {"value": None, "basis": None, "source": None, "distribution": None}
ABSENT = replace(SEND, **NOTHING, undefined=Undefined(Reason.NOT_OFFERED, "There is no own/send."))
EVERY = [FOLD, FOLD_10, SEND, RATE, MODEL, REPORTED]


def run_of(root: Path, readings: list[Reading] | None = None, **changes: Any) -> Run:
    """A whole run of the project as it is now."""
    touched = {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in SOURCES}
    made = Run(
        id="20261130T052031Z-3f9a1c",
        created="2026-11-30T05:20:31Z",
        argv=["run", "--all"],
        complete=True,
        mode=Mode.DEFAULT,
        selection=Selection(all=True, layers=[], kpis=[], params={}, runtimes=[], workloads=[]),
        machine=Machine(slug=SLUG, fingerprint={"cores": 2, "cpu_model": "Test"}),
        environment={},
        noise={},
        source=SourceTree(commit="0123456789abcdef0123456789abcdef01234567", dirty=False, touched=touched),
        workloads={"mine": WorkloadRecord(sha256="ab" * 32, kind="session", source="replay", hash=None, facts={})},
        readings=EVERY if readings is None else readings,
    )
    return replace(made, **changes)


def record(root: Path, run: Run) -> Path:
    """Commit ``run``: under the hash of its bytes."""
    return record_bytes(root, encode(run), run.machine.slug)


def record_bytes(root: Path, blob: bytes, slug: str = SLUG) -> Path:
    """The same for bytes that somebody made."""
    path = root / "baselines" / slug / "runs" / f"{hashlib.sha256(blob).hexdigest()[:16]}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(blob)
    return path


def forged(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The run file with its JSON changed, under the hash that its bytes then have."""
    document = json.loads(path.read_bytes())
    change(document)
    path.unlink()
    blob = (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()
    return record_bytes(path.parents[3], blob, path.parents[1].name)


def index_of(path: Path, kpi: str) -> int:
    """Which reading of a run file is the first of ``kpi``."""
    return next(at for at, reading in enumerate(json.loads(path.read_bytes())["readings"]) if reading["kpi"] == kpi)


def lay_out(root: Path) -> Path:
    """Write the project, its documents and one committed run into ``root``; the run file."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "docs").mkdir()
    (root / "README.md").write_text("# Mine\n\nNo number here.\n")
    (root / "docs" / "page.md").write_text(
        "# Page\n\n<!-- authority:begin main kpis=fold_ns,hit_rate,saved_tok -->\n<!-- authority:end -->\n\n"
        "A point lasts <!--=harness.jobs.modes:MIN_TIME_S ms-->?<!--=--> or longer.\n"
    )
    return record(root, run_of(root))

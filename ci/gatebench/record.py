"""Records real pairs of this repository's slices, with a truth that is brought about and not estimated.

    python ci/gatebench/record.py --kind null|injected|neutral --seconds N --out DIR [--pairs N]

Both sides are laid out from one commit, two copies a side, as a gate lays them out; each pair is one fresh process a
side. A trial takes the pairs that the gate's own judge asks for, and at least those that were planned: 20, or N. Trials
are appended as they end, so that a recording goes on where it was left; nothing is ever dropped, repeated or rewritten.
Refuses to record from a working tree: what is not committed is not measured.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[0] = str(ROOT)

from harness.gating.ground import Ground  # noqa: E402
from harness.gating.options import GateOptions  # noqa: E402
from harness.gating.points import gate_points  # noqa: E402
from harness.gating.rows import label  # noqa: E402
from harness.jobs import calibrate_trial  # noqa: E402
from harness.jobs.calibrate_order import FACTORS, edit_of  # noqa: E402
from harness.jobs.calibrate_trial import INTERRUPTED, LEAST_PAIRS, make_trial  # noqa: E402
from harness.jobs.plan import PlannedPoint  # noqa: E402
from harness.jobs.worker_job import lay_out  # noqa: E402
from harness.project import load_project, runtime_reference  # noqa: E402
from harness.record.streams import read_file  # noqa: E402
from harness.record.trials import Kind, Trial, TrialError, line_of  # noqa: E402
from harness.subject.edits import EDITS, LONGER_PATH, Inapplicable  # noqa: E402
from harness.subject.git import Repository, find  # noqa: E402
from harness.subject.pristine import laid_out, takes  # noqa: E402
from harness.subject.revisions import resolve  # noqa: E402
from harness.subject.scratch import scratch  # noqa: E402
from kpis.registry import Catalog, load  # noqa: E402

POINTS = {
    "reap_latency_kernel[slice=kernel]": "seams/syscall/reap.py",
    "planner_optimize_ns[objective=greedy,n=100]": "seams/turn/planner.py",
    "planner_optimize_ns[objective=greedy,n=1000]": "seams/turn/planner.py",
    "turn_spawn_ns[phase=all]": "seams/turn/view.py",
    "tool_call_p50_ns": "seams/syscall/fold.py",
}
"""The points that are recorded, and the module of each that neutral edits are made in; its slice calls that module."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One trial to be made: the point, by how much its head is slowed down, and the edit to ``modules`` of the head."""

    point: PlannedPoint
    factor: float = 1.0
    edit: str | None = None
    modules: tuple[str, ...] = ()

    @property
    def said(self) -> str | None:
        """The edit in words: what was done, and in which modules."""
        return f"{self.edit} in {', '.join(self.modules)}" if self.edit and self.modules else self.edit


def chosen(catalog: Catalog) -> list[PlannedPoint]:
    """The points of :data:`POINTS`, in that order."""
    options = GateOptions(against="HEAD", kpis=tuple({name.partition("[")[0] for name in POINTS}), all_params=True)
    found = gate_points(catalog, [runtime_reference("reference")], options).timed
    by_name = {label(point): point for point in found}
    return [by_name[name] for name in POINTS]


def sources(repository: Repository, commit: str) -> dict[str, str]:
    """The text of each module of :data:`POINTS` as it is committed."""
    modules = sorted(set(POINTS.values()))
    return {module: repository.ask("cat-file", "blob", f"{commit}:{module}").decode() for module in modules}


def place(kind: Kind, done: Sequence[Trial]) -> int:
    """Where in its round a recording goes on that has made ``done``: of edits, after the last one; else by number.

    Edits are found by their name, for not every edit leaves a trial for every point.
    """
    if kind is not Kind.NEUTRAL:
        return len(done)
    names = list(EDITS)
    last = edit_of(done[-1]) if done else None
    return names.index(last) + 1 if last in names else 0


def schedule(kind: Kind, points: Sequence[PlannedPoint], start: int, texts: Mapping[str, str]) -> Iterator[list[Asked]]:
    """The trials that share a checkout, without end, from ``start`` (:func:`place`) on; ``texts`` are the modules.

    A neutral edit is made at once to the module of every point that has a place for it, and all of these are measured.

    Raises:
        Inapplicable: no module has a place for any edit.
    """
    match kind:
        case Kind.NULL:
            yield from cycle([[Asked(point) for point in points]])
        case Kind.INJECTED:
            for number in count(start):
                yield [Asked(points[number % len(points)], FACTORS[number // len(points) % len(FACTORS)])]
        case Kind.NEUTRAL:
            rounds = [_edited_points(edit, points, texts) for edit in EDITS]
            if not any(rounds):
                raise Inapplicable("no module that is recorded has a place for any edit")
            yield from (batch for number in count(start) if (batch := rounds[number % len(rounds)]))


def _edited_points(edit: str, points: Sequence[PlannedPoint], texts: Mapping[str, str]) -> list[Asked]:
    fitting = [point for point in points if takes(texts[POINTS[label(point)]], edit)]
    modules = () if edit == LONGER_PATH else tuple(sorted({POINTS[label(point)] for point in fitting}))
    return [Asked(point, edit=edit, modules=modules) for point in fitting]


def record(kind: Kind, seconds: float, out: Path, least: int = LEAST_PAIRS) -> int:
    """Append trials to ``out`` until ``seconds`` have passed; what shares a checkout is finished. Returns how many.

    Raises:
        TrialError: what is there already is no recording.
    """
    deadline = time.monotonic() + seconds
    project, catalog = load_project(ROOT), load()
    repository, commit = find(ROOT), resolve(ROOT, "HEAD").commit
    points = chosen(catalog)
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"{kind.value}.jsonl"
    start = place(kind, list(read_file(file)) if file.exists() else [])
    made = 0
    with scratch() as folder, TemporaryDirectory(dir=folder) as inner, file.open("a", encoding="utf-8") as lines:
        workloads = lay_out(points, Path(inner))
        for batch in schedule(kind, points, start, sources(repository, commit)):
            if time.monotonic() >= deadline:
                break
            seed = random.SystemRandom().randrange(2**32)
            with laid_out(repository, commit, folder, edit=batch[0].edit, modules=batch[0].modules) as sides:
                on = Ground(project, catalog, sides, project.under_test, workloads, Path(inner))
                for asked in batch:
                    found = make_trial(
                        calibrate_trial.Asked(asked.point, kind, asked.factor, asked.said), on, seed, planned=least
                    )
                    lines.write(line_of(found) + "\n")
                    lines.flush()
                    made += 1
                    if found.void == INTERRUPTED:
                        return made
                    print(f"{found.kpi} {found.truth:.3f} {len(found.pairs)} pairs, load {found.load}", flush=True)
    return made


def main(argv: Sequence[str]) -> int:
    """Read the command line and record."""
    parser = argparse.ArgumentParser(description="Record trials with a known truth, in addition to those there are.")
    parser.add_argument("--kind", type=Kind, choices=list(Kind), required=True, metavar="null|injected|neutral")
    parser.add_argument(
        "--seconds",
        type=float,
        required=True,
        help="no checkout begins after them: of nulls a suite, of neutral ones an edit with all its points",
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder whose KIND.jsonl is appended to")
    parser.add_argument("--pairs", type=int, default=LEAST_PAIRS, help="planned pairs of a trial (floors need 64)")
    given = parser.parse_args(argv)
    try:
        made = record(given.kind, given.seconds, given.out, max(given.pairs, LEAST_PAIRS))
    except TrialError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{made} trials were added to {given.out / given.kind.value}.jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

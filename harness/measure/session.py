"""A timed session: pyperf runs the values of one slice in this process, on the harness's clocks.

pyperf supplies warm-up, calibration, metadata and the file format; it never judges. This module adds what pyperf
does not keep: CPU time of each value, the stamps of single calls, the harness's own share, and the proof that a
batch really does as many calls as it was told. Imported by ``run``'s timed workers alone, because pyperf costs tens
of milliseconds.
"""

from __future__ import annotations

import io
import os
import statistics
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

import pyperf

from harness.measure.clock import clock_fault, clock_overhead_ns, is_async
from harness.measure.opening import Opened, Refused
from harness.measure.timing import Value, empty_call_ns, empty_loop_ns, time_batch, time_calls

__all__ = ["EMPTY", "MAX_LOOPS", "bucket", "run"]

MAX_LOOPS = 2**24
"""Beyond this the batch does not do its loops: 5 ms over 2**24 calls would be .3 ns a call, less than a cycle."""

EMPTY = 1.2
"""A call that costs no more than this many empty calls did nothing: one attribute access alone adds a quarter."""

SUSPECT = 20
"""Only a call within this many empty calls is looked at again: dearer ones did something."""

CPU_NS = 1_000_000
"""From this much CPU time on, CPU time says whether the loops were done: it does not grow while others run."""

LONG_NS = 100_000_000
"""Values this long are not repeated more often than needed: their relative scatter is small."""

IGNORED_LOOPS = 1.25
"""Twice the loops take twice the time; below this ratio the batch ignores what it was told. Halfway on a log scale
between 1 and 2 would be 1.41; a cache that warms up may honestly lower it, a batch of fixed work stays at 1."""

OBEYED_LOOPS = 1.7
"""Where the least of two rounds is already beyond this ratio, the other rounds would only cost time."""


def run(job: Mapping[str, Any], opened: Opened) -> dict[str, Any]:
    """Calibrate the loops of a slice, or measure its values; the answer as plain JSON values."""
    recorder = _Recorder(opened, job)
    answer = recorder.pyperf_run()
    if job["task"] == "calibrate":
        recorder.require_loops(answer["loops"])
    return answer


class _Recorder:
    """The function that pyperf times, and what it writes down beside."""

    def __init__(self, opened: Opened, job: Mapping[str, Any]) -> None:
        self.opened = opened
        self.job = job
        self.batches = job["estimand"] == "call-mean"
        self.cpu_ns: list[float] = []
        self.rounds: list[list[int]] = []
        self.last_raw_ns = 0

    def time(self, loops: int) -> float:
        """What pyperf calls: seconds that ``loops`` calls took."""
        if loops > MAX_LOOPS:
            raise Refused(
                "work-not-done",
                f"{loops} calls take less than {self.job['min_time'] * 1e3:g} ms: the batch does no work, "
                "or ignores `loops`.",
            )
        if self.batches:
            value = time_batch(self.opened.what, loops, self.opened.loop)
            self.cpu_ns.append(value.cpu_ns / loops)
            self.last_raw_ns = value.wall_ns
            return value.wall_ns * 1e-9
        round_ = time_calls(self.opened.what, loops, self.opened.loop)
        self.cpu_ns.append(round_.cpu_ns / loops)
        self.rounds.append(round_.stamps_ns)
        self.last_raw_ns = sum(round_.stamps_ns)
        return statistics.median(round_.stamps_ns) * loops * 1e-9

    def pyperf_run(self) -> dict[str, Any]:
        job = self.job
        # The descriptor takes pyperf's own JSON line, which would otherwise go to standard output as prose.
        sink = os.memfd_create("pyperf")
        runner = pyperf.Runner(program_args=("-m", "harness", "worker"))
        words = ["--worker", f"--pipe={sink}", "--worker-task=0", f"--values={job['values']}"]
        words += [f"--warmups={job['warmups']}", f"--min-time={job['min_time']}"]
        words += ["--calibrate-loops"] if job["task"] == "calibrate" else [f"--loops={job['loops']}"]
        runner.parse_args(words)
        with redirect_stdout(io.StringIO()) as said:
            try:
                bench = runner.bench_time_func(job["kpi"], self.time, metadata=_metadata(job))
            except ValueError as error:
                if "zero" in str(error):
                    raise Refused("too-short", "A value took no time at all on this clock.") from error
                raise
            except SystemExit as error:
                raise Refused("error", said.getvalue().strip() or f"pyperf ended with {error.code}.") from error
        measured = bench.get_runs()[0]
        loops = measured.get_total_loops() if measured.values else measured.warmups[-1][0]
        values = list(measured.values)
        answer: dict[str, Any] = {
            "pyperf": {
                "metadata": {key: value for key, value in measured.get_metadata().items() if key not in _PRIVATE},
                "warmups": [[int(n), float(value)] for n, value in measured.warmups],
                "values": values,
            },
            "loops": loops,
            "values_ns": [value * 1e9 for value in values],
            "cpu_ns": self.cpu_ns[len(self.cpu_ns) - len(values) :],
            "engine": self.opened.what.engine,
        }
        if job["task"] == "measure":
            answer |= self._shares(answer)
        return answer

    def _shares(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The process's value, and the harness's share of it.

        A stamp's own cost is measured and taken off. A batch pays for one turn of the loop a call, and two reads of
        the clock in all.
        """
        stamp_ns, _ = clock_overhead_ns()
        if not self.batches:
            kept = self.rounds[len(self.rounds) - len(answer["values_ns"]) :]
            stamps = sorted(stamp for round_ in kept for stamp in round_)
            p50, p99 = (nearest_rank(stamps, q) - stamp_ns for q in (0.50, 0.99))
            empty = empty_call_ns(self.opened.loop, asynchronous=is_async(next(iter(self.opened.what.calls(1)))))
            if p50 < EMPTY * empty:
                raise Refused(
                    "work-not-done",
                    f"A call of the slice takes {p50:.0f} ns and an empty call {empty:.0f} ns: it does no work.",
                )
            histogram: dict[str, int] = {}
            for stamp in stamps:
                key = str(bucket(stamp))
                histogram[key] = histogram.get(key, 0) + 1
            share = {"overhead_share": stamp_ns / (p50 + stamp_ns), "stamp_ns": stamp_ns}
            return {"process_ns": p50, "p99_ns": p99, "calls": histogram, **share}
        value = statistics.median(answer["values_ns"])
        asynchronous = is_async(self.opened.what.batch(1))
        empty = empty_call_ns(self.opened.loop, asynchronous=asynchronous)
        if value < SUSPECT * empty:
            # In short batches and the least of many: what displaces a long batch would lend an empty slice weight.
            calls = min(answer["loops"], 2_000)
            least = min(time_batch(self.opened.what, calls, self.opened.loop).wall_ns for _ in range(20)) / calls
            if least < EMPTY * empty:
                raise Refused(
                    "work-not-done",
                    f"A call of the slice takes {least:.0f} ns and an empty call {empty:.0f} ns: it does no work.",
                )
        return {"process_ns": value, "overhead_share": (stamp_ns / answer["loops"] + empty_loop_ns()) / value}

    def require_loops(self, loops: int) -> None:
        """Refuse a slice whose batch takes as long for twice the loops, and one too short for the clock."""
        if (fault := clock_fault(self.last_raw_ns)) is not None:
            raise Refused("too-short", fault)
        if not self.batches:
            return
        taken: dict[int, list[Value]] = {loops: [], 2 * loops: []}
        once = twice = 0
        for done in range(1, 1 + (5 if self.last_raw_ns < LONG_NS else 2)):
            # In turn, and the least of each: a busy moment must not decide.
            for calls, values in taken.items():
                values.append(time_batch(self.opened.what, calls, self.opened.loop))
            once, twice = (min(value.cpu_ns for value in values) for values in taken.values())
            if once < CPU_NS:
                once, twice = (min(value.wall_ns for value in values) for values in taken.values())
            if done > 1 and twice > OBEYED_LOOPS * once:
                return
        if twice < IGNORED_LOOPS * once:
            raise Refused(
                "work-not-done",
                f"Twice as many calls ({2 * loops}) take {twice / once:.2f} times as long: the batch ignores `loops`.",
            )


def _metadata(job: Mapping[str, Any]) -> dict[str, str]:
    metadata = {f"param_{key}": str(value) for key, value in job["params"].items()}
    return {"runtime": job["runtime_name"], "workload": job["workload_name"] or "none", **metadata}


_PRIVATE = {"hostname", "command", "command_cwd", "python_executable", "boot_time", "uptime"}
"""What pyperf notes and a committed file must not hold: names and paths of the machine."""


def nearest_rank(ordered: list[int], quantile: float) -> int:
    """The nearest-rank quantile of sorted values: the ceil(q n)-th of n."""
    rank = -(-int(quantile * 100) * len(ordered) // 100)
    return ordered[max(rank, 1) - 1]


def bucket(ns: int) -> int:
    """The lower edge of the histogram bucket of ``ns``: exact below 128, then 64 buckets an octave (1.6 % wide)."""
    shift = max(ns.bit_length() - 7, 0)
    return (ns >> shift) << shift

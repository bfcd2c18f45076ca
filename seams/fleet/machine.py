"""This machine, as a gate's checks: its processes, its cores and memory, and the commands that know of the rest.

One walk over the processes serves three checks, and is made when the first of them is called. A command is a child with
a deadline, and is believed in what it prints and in nothing else. A process that ends while it is looked at is none.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from seams.contract.fleet_preflight import MAX_WORKERS, Asks, Checks, Flagged, Host, Loop, Seats
from seams.engines.child import ChildError, ask

__all__ = ["ACCOUNT", "BACKENDS", "PROTECTED", "WORKERS", "checks"]

ACCOUNT, WORKERS = "LOOPLADDER_ACCOUNT", "LOOPLADDER_MAX_WORKERS"

PROTECTED = frozenset({"init", "systemd", "launchd", "sshd", "dockerd", "containerd", "kubelet", "dbus-daemon", "Xorg"})
"""Names of processes that nobody would end to make room; the first process of a machine is one whatever its name."""

BACKENDS = frozenset({"claude", "codex", "gemini", "opencode", "goose", "aider", "ollama", "vllm", "llama-server"})
"""Names of processes that agents run on."""

_MB = 1024 * 1024
_MOST = 65_536
_LONGEST_S = 1_000_000.0
"""What a system can wait for ends a little beyond."""


class _Process(NamedTuple):
    pid: int
    name: str
    resident: int
    threads: int
    command: str


def checks(asks: Asks) -> Checks:
    """The checks that ``asks`` describes."""

    @cache
    def walked() -> list[_Process]:
        return _processes(asks.marker is not None)

    return Checks(
        flagged=lambda: _flagged(walked(), asks.share),
        account=lambda: os.environ.get(ACCOUNT) or None if asks.account is None else _said(asks.account, asks.seconds),
        loop=lambda: Loop(0, 0) if asks.loop is None else _fields(Loop, asks.loop, asks.seconds),
        seats=lambda: None if asks.seats is None else _fields(Seats, asks.seats, asks.seconds),
        host=lambda: _host(walked()),
        workers=lambda: len(_workers(walked(), asks.marker, asks.pids)),
        max_workers=lambda: _configured() if asks.max_workers is None else asks.max_workers,
    )


def _processes(commands: bool) -> list[_Process]:
    import psutil  # here, because whoever brings checks of their own needs none of it

    found = []
    wanted = ["pid", "name", "status", "memory_info", "num_threads", *(["cmdline"] if commands else [])]
    for process in psutil.process_iter(wanted):
        facts = process.info
        if facts["status"] == psutil.STATUS_ZOMBIE:  # it has ended, and only its number is still there
            continue
        memory = facts["memory_info"]
        found.append(
            _Process(
                facts["pid"],
                facts["name"] or "",
                0 if memory is None else memory.rss,
                facts["num_threads"] or 0,
                " ".join(facts.get("cmdline") or ()),
            )
        )
    return found


def _flagged(processes: Sequence[_Process], share: float) -> list[Flagged]:
    import psutil

    if isinstance(share, bool) or not 0 <= share < math.inf:  # beyond one that is no number there is nobody
        raise ValueError(f"the share {share!r:.80} is no number from 0 on")
    most = share * psutil.virtual_memory().total
    return [
        Flagged(each.pid, each.name, each.pid == 1 or each.name in PROTECTED, each.name in BACKENDS)
        for each in processes
        if each.resident > most
    ]


def _host(processes: Sequence[_Process]) -> Host:
    import psutil

    try:
        cores: int | None = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        cores = os.cpu_count()
    return Host(cores, psutil.virtual_memory().available // _MB, sum(each.threads for each in processes) or None)


def _workers(processes: Sequence[_Process], marker: str | None, pids: str | None) -> set[int]:
    """The numbers of the worker processes that live, each once, whichever way it was found."""
    here = {each.pid for each in processes}
    found = {
        each.pid for each in processes if marker is not None and marker in each.command and each.pid != os.getpid()
    }
    if pids is not None and not Path(pids).is_dir():
        raise ValueError(f"there is no folder {pids} with the workers' files")
    for file in [] if pids is None else sorted(Path(pids).glob("*.pid")):
        said = file.read_text(encoding="ascii", errors="replace").strip()
        if not said.isdigit() or len(said) > 10:
            raise ValueError(f"the file {file} holds no number of a process")
        found |= {int(said)} & here
    return found


def _configured() -> int:
    said = os.environ.get(WORKERS, "").strip()
    if not said:
        return MAX_WORKERS
    if not said.isdigit() or len(said) > 9:
        raise ValueError(f"{WORKERS} is {said[:40]!r}, which is no number of workers")
    return int(said)


def _said(command: Sequence[str], seconds: float) -> Any:
    """What ``command`` printed, as JSON.

    Raises:
        ValueError: it did not end with 0, in time, and with one line of JSON; or ``seconds`` is no time for it.
    """
    if isinstance(seconds, bool) or not 0 < seconds <= _LONGEST_S:
        raise ValueError(f"{seconds!r:.80} is no number of seconds above 0, up to {_LONGEST_S:,.0f}")
    try:
        answer = ask(command, seconds=seconds, most=_MOST)
    except ChildError as error:
        raise ValueError(str(error)) from error
    if answer.code != 0:
        raise ValueError(f"{command[0]!r} ended with code {answer.code}")
    try:
        return json.loads(answer.out)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{command[0]!r} printed {len(answer.out)} bytes that are no JSON") from error


def _fields(made: Callable[..., Any], command: Sequence[str], seconds: float) -> Any:
    said = _said(command, seconds)
    names: Sequence[str] = made._fields  # type: ignore[attr-defined]
    if not isinstance(said, dict) or any(name not in said for name in names):
        raise ValueError(f"{command[0]!r} printed no object with {', '.join(names)}")
    return made(*(said[name] for name in names))

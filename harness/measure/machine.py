"""What this machine is, and what makes numbers noisy on it right now: facts, each a plain value or None.

The fingerprint says whether two timings may be compared at all; the noise says how far to trust one. Refuses to name
the host or a path, to hand on a value of the environment that is not on a fixed list, and to advise (see
:mod:`harness.jobs.doctor`). A fact that cannot be read here is None, never a guess.
"""

from __future__ import annotations

import gc
import hashlib
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

__all__ = ["DEPENDENCIES", "environment", "fingerprint", "noise", "slug"]

DEPENDENCIES = ("msgspec", "numpy", "psutil", "pydantic", "pyperf", "rich", "scipy", "tomli-w")
"""Our core dependencies; a test holds them equal to ``pyproject.toml``."""

_SHOWN = (
    "LANG", "LC_ALL", "LC_CTYPE", "PYTHONASYNCIODEBUG", "PYTHONCOERCECLOCALE", "PYTHONDEVMODE",
    "PYTHONDONTWRITEBYTECODE", "PYTHONFAULTHANDLER", "PYTHONHASHSEED", "PYTHONINTMAXSTRDIGITS",
    "PYTHONIOENCODING", "PYTHONMALLOC", "PYTHONMALLOCSTATS", "PYTHONNODEBUGRANGES", "PYTHONNOUSERSITE",
    "PYTHONOPTIMIZE", "PYTHONPERFSUPPORT", "PYTHONPROFILEIMPORTTIME", "PYTHONSAFEPATH", "PYTHONTRACEMALLOC",
    "PYTHONUNBUFFERED", "PYTHONUTF8", "PYTHON_CPU_COUNT", "PYTHON_GIL", "PYTHON_JIT",
)  # fmt: skip
_FLAGS = tuple(name for name in dir(sys.flags) if not name.startswith(("_", "n_", "count", "index")))


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def _cpuinfo() -> dict[str, str]:
    facts: dict[str, str] = {}
    for line in (_read("/proc/cpuinfo") or "").splitlines():
        key, found, value = line.partition(":")
        if found:
            facts.setdefault(key.strip(), value.strip())
    return facts


def _cpu_model(cpu: dict[str, str]) -> str | None:
    if "model name" in cpu:
        return cpu["model name"]
    if "CPU part" in cpu:  # arm64 gives numbers in place of a name
        return f"arm {cpu.get('CPU implementer', '?')} {cpu['CPU part']}"
    return platform.processor() or None


def _flags(cpu: dict[str, str]) -> list[str]:
    return sorted(set((cpu.get("flags") or cpu.get("Features") or "").split()))


def _dependencies() -> str:
    from importlib.metadata import PackageNotFoundError, version  # only a run needs it

    found = []
    for name in DEPENDENCIES:
        try:
            found.append(f"{name}=={version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} absent")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def fingerprint() -> dict[str, Any]:
    """What a timing belongs to: processor, kernel, libc, interpreter, clock source and versions of dependencies.

    Digests stand for long lists (processor flags, dependency versions). ``cores`` are those of the machine, not those
    this process may use (see :func:`noise`).
    """
    cpu = _cpuinfo()
    flags = _flags(cpu)
    libc = " ".join(part for part in platform.libc_ver() if part)
    return {
        "architecture": platform.machine(),
        "clocksource": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "cores": os.cpu_count(),
        "cpu_flags_sha256": hashlib.sha256(" ".join(flags).encode()).hexdigest() if flags else None,
        "cpu_model": _cpu_model(cpu),
        "dependencies_sha256": _dependencies(),
        "implementation": platform.python_implementation(),
        "kernel": platform.release(),
        "libc": libc or None,
        "python": platform.python_version(),
        "python_build": " ".join(platform.python_build()),
        "python_compiler": platform.python_compiler(),
        "system": platform.system(),
        "virtualised": _virtual(flags),
    }


def _virtual(flags: list[str]) -> bool | None:
    if "hypervisor" in flags or _read("/sys/hypervisor/type"):
        return True
    return False if flags else None


def slug(facts: dict[str, Any]) -> str:
    """A short folder name for a fingerprint, like ``linux-x86_64-2c-amd-epyc``: lower case, at most 60 characters.

    Two machines may share a slug: it names a folder, and the fingerprint inside decides.
    """
    model = re.sub(r"\(\w+\)|@.*|\b\d+-core\b|\b(cpu|processor|with)\b", " ", str(facts.get("cpu_model") or "").lower())
    parts = (
        str(facts.get("system") or "unknown").lower(),
        str(facts.get("architecture") or "unknown").lower(),
        f"{facts.get('cores') or 0}c",
        *(re.findall(r"[a-z0-9]+", model) or ["unknown"]),
    )
    return re.sub(r"[^a-z0-9_-]", "", "-".join(parts))[:60].rstrip("-")


def _governor() -> str | None:
    found = {_read(str(path)) for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")}
    names = sorted(name for name in found if name)
    return ", ".join(names) or None


def _turbo() -> bool | None:
    off = _read("/sys/devices/system/cpu/intel_pstate/no_turbo")
    if off is not None:
        return off == "0"
    on = _read("/sys/devices/system/cpu/cpufreq/boost")
    return None if on is None else on == "1"


def _steal() -> float | None:
    """The share of processor time since boot that the host gave to others."""
    first = (_read("/proc/stat") or "").partition("\n")[0].split()
    if len(first) < 9 or first[0] != "cpu":
        return None
    ticks = [int(tick) for tick in first[1:9]]  # guest time (after the eighth) is already inside user time
    return ticks[7] / sum(ticks) if sum(ticks) else None


def _running() -> int | None:
    import psutil  # type: ignore[import-untyped, unused-ignore]  # only a run needs it

    count = 0
    for process in psutil.process_iter(["pid", "status"]):
        count += process.info["status"] == psutil.STATUS_RUNNING and process.info["pid"] != os.getpid()
    return count


def _container() -> bool:
    if os.environ.get("container") or any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")):  # noqa: SIM112
        return True
    groups = _read("/proc/1/cgroup") or ""
    return any(word in groups for word in ("docker", "kubepods", "containerd", "lxc"))


def _swap() -> int | None:
    facts = dict(re.findall(r"^(SwapTotal|SwapFree):\s+(\d+) kB", _read("/proc/meminfo") or "", re.MULTILINE))
    return (int(facts["SwapTotal"]) - int(facts["SwapFree"])) * 1024 if len(facts) == 2 else None


def _temperature() -> float | None:
    import psutil  # type: ignore[import-untyped, unused-ignore]  # as above

    if not hasattr(psutil, "sensors_temperatures"):
        return None
    degrees = [sensor.current for group in psutil.sensors_temperatures().values() for sensor in group]
    return float(max(degrees)) if degrees else None


def _number(path: str) -> int | None:
    text = _read(path)
    return int(text) if text is not None and text.lstrip("-").isdigit() else None


def noise() -> dict[str, Any]:
    """What disturbs timings at this moment; None where it cannot be read.

    ``steal`` is a share since boot, ``running`` the count of other processes on a processor, ``swap_used`` bytes,
    ``temperature`` the hottest sensor in degrees Celsius, ``aslr`` the kernel's level (2 is full), ``affinity`` the
    processors this process may use.
    """
    smt = _read("/sys/devices/system/cpu/smt/active")
    return {
        "affinity": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "aslr": _number("/proc/sys/kernel/randomize_va_space"),
        "container": _container() if sys.platform == "linux" else None,
        "governor": _governor(),
        "load_average": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "running": _running(),
        "smt": None if smt is None else smt == "1",
        "steal": _steal(),
        "swap_used": _swap(),
        "temperature": _temperature(),
        "turbo": _turbo(),
        "virtual_machine": _virtual(_flags(_cpuinfo())),
    }


def environment() -> dict[str, Any]:
    """How the interpreter was set up: its flags, and the variables on a fixed list (None where unset).

    ``others`` are the *names* of further ``PYTHON...`` variables that are set; their values may be paths or secrets.
    """
    others = sorted(name for name in os.environ if name.startswith("PYTHON") and name not in _SHOWN)
    return {
        "debug_build": hasattr(sys, "gettotalrefcount"),
        "flags": {name: int(getattr(sys.flags, name)) for name in _FLAGS},
        "gc": {"enabled": gc.isenabled(), "thresholds": list(gc.get_threshold())},
        "others": others,
        "variables": {name: os.environ.get(name) for name in _SHOWN},
    }

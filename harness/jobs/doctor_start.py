"""What our own start-up costs against its budget, and what of it is the interpreter's and its site-packages'.

Refuses to blame us for what every process of any project pays.
"""

from __future__ import annotations

from harness.jobs.doctor_finding import Finding, Severity
from harness.jobs.startup import StartUp

__all__ = ["of_start"]

_SITE_MS = 5.0  # an eighth of the budget of a pair's worker: less than that explains no missed budget


def of_start(startup: tuple[StartUp, ...], hooks: tuple[str, ...]) -> list[Finding]:
    """Our own start-up against its budget, with the interpreter's share; ``hooks`` are .pth files that run code."""
    bare = next((each.median_ns for each in startup if each.budget_ms is None), None)
    found = []
    for each in startup:
        name = _shown(each.name)
        if each.median_ns is None:
            fact = f"{name} could not be timed: {each.error}."
            found.append(Finding(Severity.NOISY, fact, f"Try it: `{each.command}`.", own=True))
            continue
        took = each.median_ns / 1e6
        if each.budget_ms is None:
            found.append(_bare(name, took, each.site_ns, hooks))
            continue
        share = f", {bare / 1e6:.0f} ms of it the interpreter's own" if bare is not None else ""
        fact = f"{name} takes {took:.0f} ms of its budget of {each.budget_ms} ms{share}."
        over = took > each.budget_ms
        advice = (
            f"Find what it imports: `{each.command.replace('python ', 'python -X importtime ', 1)}`." if over else None
        )
        found.append(Finding(Severity.NOISY if over else Severity.GOOD, fact, advice, own=True))
    return found


def _shown(name: str) -> str:
    """What was started, as a user would type it; a worker is started by nobody but us."""
    words = name.removeprefix("harness ")
    if words == name:
        return f"`{name}`"
    if words.startswith("worker"):
        return f"A worker{' with pyperf' if words.endswith('pyperf') else ''}"
    return f"`python -m harness {words}`"


def _bare(name: str, took: float, site_ns: float | None, hooks: tuple[str, ...]) -> Finding:
    """The interpreter alone: every process of any project pays for it, workers included."""
    fact = f"{name} takes {took:.0f} ms"
    if site_ns is None:
        return Finding(Severity.GOOD, fact + ".", own=True)
    fact += f", {max(0.0, site_ns / 1e6):.0f} ms of it for site-packages"
    if not hooks:
        return Finding(Severity.GOOD, fact + ".", own=True)
    files, run = ("the file", "runs") if len(hooks) == 1 else ("the files", "run")
    fact += f"; there {files} {', '.join(hooks)} {run} at every start of Python."
    if site_ns / 1e6 < _SITE_MS:
        return Finding(Severity.NOTE, fact, own=True)
    advice = f"Use an environment without {'it' if len(hooks) == 1 else 'them'}: `python -m venv .venv`."
    return Finding(Severity.NOISY, fact, advice, own=True)

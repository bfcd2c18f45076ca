"""The text of a project's first files: a probe, a row, the table; what ``init`` writes and a person goes on with.

Only texts: what is known of the function comes in as values.
"""

from __future__ import annotations

from importlib import resources

__all__ = ["probes_text", "row_text", "table_text", "workflow_text"]


def probes_text(module: str, name: str, arguments: str, *, asynchronous: bool, check: str | None, why: str) -> str:
    """The module of probes; ``check`` is an expression over ``result``.

    ``why`` says what the check compares with, or why there is none.
    """
    call = f"{name}({arguments})"
    if not arguments:
        body = f"    return {name}\n"
    elif asynchronous:
        body = f"    async def call():\n        return await {call}\n\n    return call\n"
    else:
        body = f"    def call():\n        return {call}\n\n    return call\n"
    if check is not None:
        lead = (
            "# The check gets results outside the clock; where it says no, the work was not done: there is no number.\n"
            f"# It compares with {why}.\n"
        )
        words = f'source="synthetic", check=lambda result: {check}'
    else:
        lead = (
            f"# No check could be written: {why}.\n"
            "# Add check=lambda result: ..., which proves on a result that the work was done.\n"
        )
        words = 'source="synthetic"'
    return (
        '"""Probes of this project: each returns the callable to time. The harness owns the clock."""\n\n'
        f"from harness import probe\nfrom {module} import {name}\n\n\n"
        f"{lead}@probe({words})\n"
        f'def {name}_probe():\n    """Set-up here is outside the clock."""\n{body}'
    )


def row_text(module: str, name: str, kpi: str) -> str:
    """The first row and its seam."""
    seam = f"{module.replace('.', '_')}/{name}"
    return (
        f'[seam."{seam}"]\ntitle = "{module}.{name}"\n\n'
        f"[kpi.{kpi}]\n"
        'layer = "turn"\n'
        f'seam = "{seam}"\n'
        f'probe = "bench.probes:{name}_probe"\n'
        f'question = "What does one call of {name} cost?"\n'
        'fence = "One set of arguments; others may cost more."\n'
        'unit = "ns"\ndirection = "lower"\nestimand = "call-mean"\ngate = "timed"\ntarget_status = "standing"\n'
    )


def table_text(module: str) -> str:
    """The table that marks the project."""
    return f'\n[tool.harness]\nkpis = ["bench/kpis/*.toml"]\nunder_test = ["{module.partition(".")[0]}"]\n'


def workflow_text() -> str:
    """The workflow of the gate."""
    return resources.files("harness.templates").joinpath("gate.yml").read_text(encoding="utf-8")

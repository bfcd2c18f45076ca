"""How it is measured: command line, jobs, workers, formats, records and reports.

``from harness import probe`` gives plug-in authors the one name they need (see ``harness.plugin``). It is loaded
on first use, so that a worker pays only for what it measures.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the one of typing costs its import, a third of what an interpreter takes to start
if TYPE_CHECKING:
    from typing import Any

    from harness.plugin import probe as probe

__all__ = ["probe"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "probe":
        from harness.plugin import probe

        return probe
    raise AttributeError(f"module 'harness' has no attribute {name!r}")

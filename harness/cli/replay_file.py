"""The file of ``replay --json`` and the page beside it: neither is lost for want of the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["beside"]


@contextmanager
def beside(target: str | None, blob: bytes) -> Iterator[Console]:
    """Write ``blob`` to ``target`` where there is one, then lend the console that is left for the page.

    The file comes first, in case a reader of the page goes away.

    Raises:
        StoreError: the file could not be written; raised after the page, since reading it all again may take hours.
    """
    from harness.record.atomic import StoreError, write_atomic
    from harness.report.page import console_on

    fault = None
    if target == "-":
        sys.stdout.buffer.write(blob)
    elif target is not None:
        try:
            write_atomic(Path(target), blob)
        except StoreError as error:
            fault = error
    yield console_on(sys.stderr if target == "-" else sys.stdout)
    if fault is not None:
        sys.stdout.flush()
        raise fault

"""A folder for the temporary files of one worker, inside a folder that somebody sweeps.

A worker that is killed cannot tidy up, and neither can what it started: repositories, images, logs. So all of them are
told to put their temporary files in here, which goes with the worker; and where this process is killed as well, with
the folder around it at the next start. Whatever cannot be removed here is left to whoever owns the folder around.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["temporary"]


@contextmanager
def temporary(around: Path, environment: dict[str, str]) -> Iterator[Path]:
    """A new folder of mode 0700 in ``around``, named in ``environment`` as the place for temporary files.

    Raises:
        OSError: it cannot be made.
    """
    # Workers run elsewhere, so the path has to be a whole one.
    folder = Path(os.path.abspath(tempfile.mkdtemp(prefix="tmp-", dir=around)))  # noqa: PTH100 - links stay as they are
    environment["TMPDIR"] = str(folder)
    for name in ("TEMP", "TMP"):  # where they say something else, some programs believe them first
        if name in environment:
            environment[name] = str(folder)
    try:
        yield folder
    finally:
        with suppress(RecursionError):  # a probe may have nested folders deeper than rmtree goes
            shutil.rmtree(folder, ignore_errors=True)

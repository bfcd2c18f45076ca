"""The far side of a boundary: another process, with another hash seed, that has nothing but files and the runtime.

The runtime is handed over as a pickle. One that cannot be handed over is asked in this process, which is told: a fresh
object then stands where a fresh process should.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from harness.measure.clock import WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.session._pages import NOW
from seams.contract.recall import Refusal, Refused

__all__ = ["Found", "across", "looked", "serve"]

_SERVE = (
    "import sys, json; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from harness.probes.session._elsewhere import serve; serve()"
)
_GIVE_UP_S = 60


class Found(NamedTuple):
    """What an image holds: of each page the SHA-256 of its body in hexadecimal, or ``sealed``, or why it stays out.

    ``before`` is what came out at first, ``after`` once every sealed page was cleared, ``again`` after one more dump
    and load with the clearances in it. ``cleared`` says of how many pages the runtime noted the clearance.
    """

    before: list[str]
    after: list[str]
    again: list[str]
    cleared: int


async def looked(runtime: Any, folder: Path) -> Found:
    """Load the image in ``folder``, read everything, clear everything, read it again, and once more after a dump."""
    images = runtime.offer("session/image", "none")
    resumed = await settled(images.rehydrate(await settled(images.load(folder)), now=NOW))
    core = resumed.session.core
    before = await _read(core)
    cleared = 0
    for page in core.pages():
        if page.qid:
            cleared += bool(await settled(core.clear(page.qid)))
    after = await _read(core)
    next_folder = folder.with_name(f"{folder.name}-again")
    await settled(images.dump(resumed.session, next_folder, now=NOW, durable=False))
    resumed = await settled(images.rehydrate(await settled(images.load(next_folder)), now=NOW))
    return Found(before, after, await _read(resumed.session.core), cleared)


async def _read(core: Any) -> list[str]:
    found = []
    for page in core.pages():
        came = await settled(core.resolve(page.step))
        if isinstance(came, Refused):
            found.append("sealed" if came.why is Refusal.SEALED else came.why.value)
        else:
            found.append(sha256(came).hexdigest())
    return found


async def across(runtime: Any, folders: Sequence[Path]) -> tuple[list[Found], str]:
    """What another process finds in each folder, and in which one that was.

    Raises:
        WorkNotDoneError: the other process ended without an answer.
    """
    try:
        handed = pickle.dumps((runtime, [str(each) for each in folders]))
    except Exception as error:  # whatever a runtime's own parts raise when they are pickled
        told = f"in this process, because the runtime cannot be handed to another ({type(error).__name__})"
        return [await looked(runtime, each) for each in folders], told
    seed = (int(os.environ.get("PYTHONHASHSEED", "0").replace("random", "0")) + 1) % 2**32
    done = subprocess.run(
        [sys.executable, "-c", _SERVE],
        input=json.dumps(sys.path).encode() + b"\n" + handed,
        capture_output=True,
        timeout=_GIVE_UP_S,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise WorkNotDoneError(f"another process could not read the images: {said[:300]}")
    return [Found(*each) for each in json.loads(done.stdout)], "in a new process under another hash seed"


def serve() -> None:
    """Answer one question from standard input."""
    runtime, folders = pickle.load(sys.stdin.buffer)

    async def all_of_them() -> list[Found]:
        return [await looked(runtime, Path(each)) for each in folders]

    sys.stdout.write(json.dumps(asyncio.run(all_of_them())))

"""Has the kernel keep a candidate's hands off what is not its own (Landlock), where the kernel can.

A confined process, and whatever it starts, writes, removes and renames only below the folders that it is given; from
Linux 6.2 on (interface 3) it also cuts no file short elsewhere, and from 6.12 on (interface 6) it signals nobody
outside. Where the kernel has no Landlock nothing is prevented, and
the caller is told so. What is not prevented anywhere: changing the mode, the owner, the times or the attributes of what
lies elsewhere, for which there are no rights that could be kept back; reading, the network, talking to daemons over
sockets, and using up memory, processor and the disk below the folders given. Standard library only: the warden imports
it.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

__all__ = ["WHOLE", "interface", "restriction"]

# Numbers of <linux/landlock.h>; the system calls have the same ones on every architecture.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_CHANGES = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
"""Write a file; remove folders and files; make devices, folders, files, sockets, pipes and links."""
_SINCE = ((2, 1 << 13), (3, _TRUNCATE))
"""Rights that came with a later interface: to move between folders, and to truncate."""
_SCOPE_SIGNAL = 1 << 1

WHOLE = 3
"""The interface from which on all that changes what a file elsewhere holds is prevented."""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


def interface() -> int:
    """The version of the kernel's interface; 0 where it has none."""
    with suppress(OSError, AttributeError):
        return max(int(ctypes.CDLL(None).syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))), 0)
    return 0


def restriction(folders: Sequence[str]) -> tuple[Callable[[], None], int] | None:
    """What a child calls before it becomes another program, and a descriptor to close then; None without Landlock.

    Raises:
        OSError: the kernel has it and refuses the rule.
    """
    version = interface()
    if not version:
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    rights = _CHANGES | sum(right for since, right in _SINCE if version >= since)
    # Each interface knows a longer attribute: (files), (files, network), (files, network, scopes).
    attribute = struct.pack("=QQQ", rights, 0, _SCOPE_SIGNAL)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _called(libc, _CREATE, attribute, ctypes.c_size_t(len(attribute)), ctypes.c_uint32(0))
    for place in (*folders, *_DEVICES):
        if Path(place).exists():
            handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
            allowed = rights if Path(place).is_dir() else rights & (_WRITE_FILE | _TRUNCATE)
            rule = struct.pack("=Qi", allowed, handle)
            _called(libc, _ADD, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
            os.close(handle)

    def restrict() -> None:
        if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "the kernel does not take privileges back")
        _called(libc, _RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))

    return restrict, ruleset


def _called(libc: ctypes.CDLL, number: int, *words: object) -> int:
    done: int = libc.syscall(number, *words)
    if done < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"system call {number}: {os.strerror(code)}")
    return done

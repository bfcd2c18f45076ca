"""Counts what a thread executes, exactly: calls by profiling, opcodes by tracing or, from Python 3.12, by monitoring.

Both make the counted code many times slower, so nothing here reads a clock. Standard library only.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

__all__ = ["Calls", "Codes", "Opcodes"]


class Codes:
    """Code objects met, by identity: equal ones of two files are two, and a kept one's identity is not given anew."""

    def __init__(self) -> None:
        self.met: dict[int, CodeType] = {}
        self.times: dict[int, int] = {}

    def add(self, code: CodeType) -> None:
        """Count ``code`` once more."""
        key = id(code)
        if key not in self.met:
            self.met[key] = code
            self.times[key] = 0
        self.times[key] += 1


class Calls:
    """Counts calls of Python functions and C callables while it is entered. A resumed coroutine is called again."""

    def __init__(self) -> None:
        self.python = Codes()
        self.builtin: dict[str, int] = {}
        self._on = False

    def __enter__(self) -> None:
        self._on = True
        threading.setprofile(self._event)
        sys.setprofile(self._event)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        sys.setprofile(None)
        threading.setprofile(None)
        # A thread that was started meanwhile keeps the function, and is seen again when this is entered again.
        self._on = False

    def take(self) -> tuple[Codes, dict[str, int]]:
        """What was counted since the last time: Python functions, and C callables by name."""
        taken = self.python, self.builtin
        self.python, self.builtin = Codes(), {}
        return taken

    def _event(self, frame: FrameType, what: str, arg: Any) -> None:
        if not self._on:
            return
        if what == "call":
            self.python.add(frame.f_code)
        elif what == "c_call":
            name = f"{arg.__module__}.{arg.__qualname__}" if arg.__module__ else arg.__qualname__
            self.builtin[name] = self.builtin.get(name, 0) + 1


class Opcodes:
    """Counts executed opcodes by code object while it is entered."""

    def __init__(self) -> None:
        self.python = Codes()
        self._tool: int | None = None

    if sys.version_info >= (3, 12):

        def __enter__(self) -> None:
            watch = sys.monitoring
            self._tool = next(each for each in range(6) if watch.get_tool(each) is None)
            watch.use_tool_id(self._tool, "loopladder")
            watch.register_callback(self._tool, watch.events.INSTRUCTION, lambda code, _offset: self.python.add(code))
            watch.set_events(self._tool, watch.events.INSTRUCTION)

        def __exit__(self, *_: object) -> None:
            if self._tool is not None:
                sys.monitoring.set_events(self._tool, 0)
                sys.monitoring.free_tool_id(self._tool)

    else:

        def __enter__(self) -> None:
            sys.settrace(self._global)

        def __exit__(self, *_: object) -> None:
            sys.settrace(None)

        def _global(self, frame: FrameType, _event: str, _arg: object) -> Callable[[FrameType, str, Any], Any]:
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            return self._local

        def _local(self, frame: FrameType, event: str, _arg: object) -> Callable[[FrameType, str, Any], Any]:
            if event == "opcode":
                self.python.add(frame.f_code)
            return self._local

"""Set-up against runtimes that wait, and against those that do not."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from harness.probes._awaiting import at_once, awaits, finish, settled


class Either:
    def plain(self) -> int:
        return 4

    async def later(self) -> int:
        await asyncio.sleep(0)
        return 4


async def opening(method) -> int:
    return await settled(method())


def test_a_coroutine_function_is_known_by_its_name() -> None:
    assert [awaits(Either(), *names) for names in (("plain",), ("later",), ("plain", "later"), ("missing",), ())] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_what_does_not_wait_is_there_at_once() -> None:
    assert finish(opening(Either().plain), Either().plain) == 4
    assert at_once(opening(Either().plain)) == 4


@pytest.mark.parametrize("more", [{}, {"waits": True}])
def test_what_waits_is_for_the_worker_to_await(more) -> None:
    methods = () if more else (Either().later,)
    coroutine = finish(opening(Either().later), *methods, **more)
    assert inspect.iscoroutine(coroutine)
    assert asyncio.run(coroutine) == 4


def test_a_method_that_does_not_say_that_it_waits() -> None:
    with pytest.raises(TypeError, match="declare it async"):
        finish(opening(Either().later), Either().plain)
    with pytest.raises(TypeError, match="not here"):
        at_once(opening(Either().later), "not here")

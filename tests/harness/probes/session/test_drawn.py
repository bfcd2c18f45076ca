from __future__ import annotations

import asyncio

from harness.probes.session._drawn import Drawn


def test_each_input_comes_once_and_one_result_is_held() -> None:
    held = set()
    for _ in range(60):
        came = []
        drawn = Drawn(lambda given, came=came: came.append(given) or given.upper(), ["a", "b", "c"])
        assert drawn.result is None
        assert drawn.calls()() == "C"
        assert came == ["a", "b", "c"]
        assert drawn.result == came[drawn.at].upper()
        held.add(drawn.at)
    assert held == {0, 1, 2}  # in 60 draws one of three is missing once in ten thousand million runs


def test_a_method_that_waits_is_awaited() -> None:
    async def doubled(given):
        await asyncio.sleep(0)
        return given * 2

    drawn = Drawn(doubled, [1, 2, 3])
    batch = drawn.calls()
    assert asyncio.iscoroutinefunction(batch)
    assert asyncio.run(batch()) == 6
    assert drawn.result == (drawn.at + 1) * 2

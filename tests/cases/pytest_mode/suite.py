"""An authored suite of pytest-benchmark tests, one way of using the fixture each; copied under a test's name."""

import asyncio

import pytest
from mine.work import fast, steady


@pytest.fixture(params=[20, 40])
def size(request):
    return request.param


@pytest.fixture
def room(tmp_path):
    (tmp_path / "held").write_text("3")
    return tmp_path


def test_call(benchmark):
    assert benchmark(fast, 10) == 45


@pytest.mark.parametrize("word", ["a", "b c"])
def test_parametrised(benchmark, word, size):
    assert benchmark(lambda: word * size) == word * size


class TestInAClass:
    def test_keywords(self, benchmark):
        assert benchmark(steady, n=30) == 435


def test_decorated(benchmark, room):
    @benchmark
    def read():
        return (room / "held").read_text()

    assert read == "3"


def test_set_up(benchmark):
    held, cleared = [], []

    def set_up():
        held.append([3, 1, 2] * 40)
        assert len(held) == len(cleared) + 1, "every call has its own set-up right before it"
        return (held[-1],), {"reverse": True}

    def call(numbers, reverse):
        assert numbers is held[-1]
        numbers.sort(reverse=reverse)
        return numbers

    def tear_down(numbers, reverse):
        assert numbers[0] == 3
        cleared.append(numbers)

    result = benchmark.pedantic(call, setup=set_up, teardown=tear_down, rounds=2, warmup_rounds=1)
    assert result is held[-1]
    assert len(held) == len(cleared)


def test_iterations(benchmark):
    calls = []
    benchmark.pedantic(calls.append, args=(1,), teardown=lambda _: calls.append("end"), rounds=2, iterations=5)
    assert calls[:6] == [1, 1, 1, 1, 1, "end"]


@pytest.mark.benchmark(group="a group", min_rounds=7, disable_gc=True)
@pytest.mark.timeout(0.001)
def test_what_a_test_may_ask(benchmark, request):
    benchmark.extra_info["unit"] = "words"
    assert benchmark.group == "a group"
    assert benchmark.name == request.node.name
    assert benchmark.enabled
    assert not benchmark.disabled
    assert benchmark(fast, 3) == 3
    assert 0 < benchmark.stats.stats.min <= benchmark.stats["mean"] <= benchmark.stats["max"]
    assert benchmark.stats.extra_info == {"unit": "words"}


def test_woven_by_hand(benchmark_weave, benchmark):
    assert benchmark_weave == benchmark.weave
    benchmark(fast, 3)


def test_wrong(benchmark):
    assert benchmark(fast, 10) == 46, "the sum is off"


def test_drained(benchmark):
    queue = [1, 2, 3]

    def drain():
        taken = list(queue)
        queue.clear()
        return taken

    assert benchmark(drain) == [1, 2, 3]


def test_twice(benchmark):
    benchmark(fast, 1)
    benchmark(fast, 2)


def test_nothing(benchmark):
    assert benchmark.stats is None


def test_interrupted(benchmark):
    raise KeyboardInterrupt


def test_leaves(benchmark):
    pytest.exit("enough for today")


def test_leaves_when_measured(benchmark):
    benchmark(fast, 1)
    pytest.exit("enough for today")


def test_coroutine(benchmark):
    async def answer():
        await asyncio.sleep(0)

    benchmark(answer)


def test_generator(benchmark):
    benchmark(lambda: (number for number in range(3)))


def test_raises(benchmark):
    with pytest.raises(ZeroDivisionError):
        benchmark(lambda: 1 / 0)


@pytest.mark.skip(reason="not on Tuesdays")
def test_skipped(benchmark):
    benchmark(fast, 1)


@pytest.mark.xfail(reason="known to be wrong")
def test_expected_to_fail(benchmark):
    assert benchmark(fast, 1) == 1


@pytest.fixture
def broken():
    raise LookupError("no such place")


def test_broken_fixture(benchmark, broken):
    benchmark(fast, 1)


def test_without(room):
    assert room.is_dir()

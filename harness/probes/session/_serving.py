"""What the probe of the arms is made of: one session served three ways by one server, cut into parts to be timed.

All arms take the same steps of the same server and have to decode the same ids, which shows that they did the same
work; only how often a prompt is read differs. Ids are new in each round, so that no round is answered from what another
left. Nothing is read from a clock here.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from harness.measure.clock import WorkNotDoneError, is_async
from harness.probes._awaiting import at_once, settled
from kpis.formulas.session.prefill import Prefill, Shape, context, prefill_tokens, sample_lengths
from kpis.formulas.session.token_ids import ids
from seams.contract.arms import Held, Server

__all__ = ["LEAST_SAMPLE", "Part", "Round", "require_answers"]

Part = tuple[str, Callable[[], object]]
_Step = tuple[str, Callable[[], Coroutine[Any, Any, object]]]

LEAST_SAMPLE = 16
"""The shortest prompt that is timed for the cost model of a session as small as one that is run here."""

_STRIDE = 7919
"""Between the seeds of two rounds: farther apart than the seeds of one."""


@dataclass(slots=True)
class _Agent:
    """One agent of one arm: all ids that it was given or decoded, what is held of them, and the newest logits."""

    history: list[int]
    held: Held | None = None
    logits: Any = None
    decoded: list[int] = field(default_factory=list)


class Round:
    """One session of ``shape`` on ``server``, its ids by ``number``. Each arm is served once."""

    def __init__(self, server: Server, shape: Shape, number: int) -> None:
        self._server = server
        self._shape = shape
        self._prefix = ids(shape.prefix, 1 + _STRIDE * number, server.vocab)
        seeds = [[50_000 + 1_000 * t + 97 * a for a in range(shape.agents)] for t in range(1, shape.turns)]
        self._results = [[ids(shape.result, each + _STRIDE * number, server.vocab) for each in row] for row in seeds]
        self._agents: dict[str, list[_Agent]] = {}
        self._read = {"a": 0, "b": 0, "c": 0}
        self._waits = any(map(is_async, (server.read, server.decode, server.clone)))

    def parts(self, arms: str) -> list[Part]:
        """The parts of ``arms``, such as ``ac``: one arm after the other, each in the order of its turns.

        A name says the arm, what is done, the turn and the agent: ``a read 2.0``.
        """
        made = {"a": self._stateless, "b": self._own_cache, "c": self._shared_prefix}
        return [(name, self._part(step)) for arm in arms for name, step in made[arm]()]

    def samples(self) -> list[Part]:
        """Prompts of the lengths that arm a's cost model is sampled at, each read from nothing."""
        lengths = sample_lengths(self._shape, LEAST_SAMPLE)
        prompts = {each: ids(each, 991 + each, self._server.vocab) for each in lengths}
        return [(str(each), self._part(partial(self._sampled, prompt))) for each, prompt in prompts.items()]

    def require_done(self) -> Prefill:
        """The prompt tokens that each arm had read, counted as they were handed over; 0 of an arm that was not served.

        Raises:
            WorkNotDoneError: an arm holds or decoded something else than the others, or too little; or its tokens are
                not those of the closed form.
        """
        served = Prefill(*(self._read[arm] for arm in "abc"))
        wanted = prefill_tokens(self._shape)._asdict()
        length = context(self._shape, self._shape.turns - 1) + self._shape.decode
        decoded = []
        for arm, agents in self._agents.items():
            if self._read[arm] != wanted[arm]:
                raise WorkNotDoneError(f"arm {arm} had {self._read[arm]} prompt tokens read, not {wanted[arm]}")
            held = [0 if each.held is None else len(each.held) for each in agents]
            if held != [length] * self._shape.agents:
                raise WorkNotDoneError(f"the sessions of arm {arm} hold {held} positions, not {length} each")
            if len({id(each.held) for each in agents}) < len(agents):
                raise WorkNotDoneError(f"two agents of arm {arm} share one session")
            decoded.append([each.decoded for each in agents])
        if any(each != decoded[0] for each in decoded):
            raise WorkNotDoneError("the arms decoded different ids from the same session")
        return served

    def _stateless(self) -> list[_Step]:
        agents = self._started("a")
        made: list[_Step] = []
        for turn in range(self._shape.turns):
            for number, agent in enumerate(agents):
                result = self._results[turn - 1][number] if turn else ()
                made += [
                    (f"a read {turn}.{number}", partial(self._again, agent, result)),
                    (f"a decode {turn}.{number}", partial(self._decoded, [agent])),
                ]
        return made

    def _own_cache(self) -> list[_Step]:
        agents = self._started("b")
        made: list[_Step] = [(f"b prefix 0.{at}", partial(self._begun, "b", agent)) for at, agent in enumerate(agents)]
        for turn in range(self._shape.turns):
            for number, agent in enumerate(agents):
                if turn:
                    more = partial(self._more, "b", agent, self._results[turn - 1][number])
                    made.append((f"b results {turn}.{number}", more))
                made.append((f"b decode {turn}.{number}", partial(self._decoded, [agent])))
        return made

    def _shared_prefix(self) -> list[_Step]:
        agents, first = self._started("c"), _Agent(list(self._prefix))
        made: list[_Step] = [
            ("c prefix 0.0", partial(self._begun, "c", first)),
            ("c clone 0.0", partial(self._cloned, first, agents)),
        ]
        for turn in range(self._shape.turns):
            if turn:
                made += [
                    (f"c results {turn}.{number}", partial(self._more, "c", agent, self._results[turn - 1][number]))
                    for number, agent in enumerate(agents)
                ]
            made.append((f"c decode {turn}.0", partial(self._decoded, agents)))
        return made

    def _started(self, arm: str) -> list[_Agent]:
        self._agents[arm] = [_Agent(list(self._prefix)) for _ in range(self._shape.agents)]
        return self._agents[arm]

    def _part(self, step: Callable[[], Coroutine[Any, Any, object]]) -> Callable[[], object]:
        if not self._waits:
            return lambda: at_once(step())

        async def run() -> object:
            return await step()

        return run

    async def _sampled(self, prompt: Sequence[int]) -> None:
        held, _ = await settled(self._server.read(prompt))
        if len(held) != len(prompt):
            raise WorkNotDoneError(f"a prompt of {len(prompt)} ids is held as {len(held)} positions")

    async def _begun(self, arm: str, agent: _Agent) -> None:
        agent.held, agent.logits = await settled(self._server.read(agent.history))
        self._read[arm] += len(agent.history)

    async def _again(self, agent: _Agent, result: Sequence[int]) -> None:
        agent.history += result
        await self._begun("a", agent)

    async def _more(self, arm: str, agent: _Agent, result: Sequence[int]) -> None:
        agent.history += result
        agent.held, agent.logits = await settled(self._server.read(result, agent.held))
        self._read[arm] += len(result)

    async def _cloned(self, first: _Agent, agents: Sequence[_Agent]) -> None:
        copies = await settled(self._server.clone(first.held, len(agents)))  # type: ignore[arg-type]
        for agent, held in zip(agents, copies, strict=True):
            agent.held, agent.logits = held, first.logits

    async def _decoded(self, agents: Sequence[_Agent]) -> None:
        held = [each.held for each in agents]
        for _ in range(self._shape.decode):
            tokens = [int(each.logits.argmax()) for each in agents]
            came = await settled(self._server.decode(tokens, held))  # type: ignore[arg-type]
            for agent, token, logits in zip(agents, tokens, came, strict=True):
                agent.history.append(token)
                agent.decoded.append(token)
                agent.logits = logits


async def require_answers(server: Server) -> None:
    """Ask the server a little, to see that what it says depends on what it was given.

    Raises:
        WorkNotDoneError: it says the same behind another prompt, or something else where a prompt comes in two pieces.
    """
    prompt = list(ids(LEAST_SAMPLE, 17, server.vocab))
    other = [(prompt[0] + 1) % server.vocab, *prompt[1:]]
    _, whole = await settled(server.read(prompt))
    _, another = await settled(server.read(other))
    held, _ = await settled(server.read(prompt[:5]))
    _, pieced = await settled(server.read(prompt[5:], held))
    copy = (await settled(server.clone(held, 1)))[0]
    (behind,) = await settled(server.decode([1], [copy]))
    if (whole == another).all() or (behind == whole).all():
        raise WorkNotDoneError("the server says the same whatever it was given")
    # Kernels that sum in another order round otherwise; a wrong position is off by far more.
    if abs(whole - pieced).max() > 1e-6 * abs(whole).max():
        raise WorkNotDoneError("the server says something else of a prompt that comes in two pieces")
    if len(held) != len(prompt):
        raise WorkNotDoneError("a copy of a session grew, and the session with it")

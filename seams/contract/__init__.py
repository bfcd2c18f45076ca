"""The Protocols by which a runtime is measured: each seam has its own, beside the data that goes through it."""

from typing import Literal, Protocol

Engine = Literal["none", "noop", "mock", "remote"]


class Runtime(Protocol):
    """A runtime under test: the reference one that ships here, or the user's.

    It comes from a factory that is called without arguments, awaited if need be. Where the runtime has ``aclose`` or
    ``close``, that is called once nothing more will be measured.
    """

    name: str
    version: str

    def offer(self, seam: str, engine: Engine) -> object | None:
        """Return the object that satisfies the Protocol of ``seam``, its engine cut out as ``engine`` says.

        ``None`` means that the runtime does not have this seam; the reading is then *undefined: not offered*.
        """
        ...

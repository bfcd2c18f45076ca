"""One Protocol a seam, one file a floor. A runtime is what it offers, seam by seam."""

from typing import Literal, Protocol

Engine = Literal["none", "noop", "mock", "remote"]


class Runtime(Protocol):
    """A runtime under test: the reference one that ships here, or the user's.

    A factory takes no argument and may be async; ``close`` or ``aclose`` is called at the end where it exists.
    """

    name: str
    version: str

    def offer(self, seam: str, engine: Engine) -> object | None:
        """Return the object that satisfies the Protocol of ``seam``, its engine cut out as ``engine`` says.

        ``None`` means that the runtime does not have this seam; the reading is then *undefined: not offered*.
        """
        ...

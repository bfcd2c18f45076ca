"""Which files a module may load: what it imports and what that imports, read from the source without running it.

Files are named as a run file names them, by their path inside the project or the instrument. What is loaded by a name
that is computed is not seen here; only a worker that was watched knows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.measure.instrument import INSTRUMENT
from harness.project import Project

__all__ = ["Imports"]


@dataclass(slots=True)
class Imports:
    """The modules of one project and of the instrument. Each file is read once."""

    project: Project
    _imports: dict[tuple[Path, bool], frozenset[str]] = field(default_factory=dict)
    _closures: dict[tuple[tuple[str, ...], bool], dict[str, Path | None]] = field(default_factory=dict)

    def files(self, begins: tuple[str, ...], *, lazy: bool) -> dict[str, Path | None]:
        """The files of the modules ``begins`` and of what they import, by name; None for one that is not there.

        ``lazy``: what stands inside functions counts all the way, and not in ``begins`` alone.
        """
        if (begins, lazy) not in self._closures:
            found: dict[str, Path | None] = {}
            waiting = list(begins)
            while waiting:
                module = waiting.pop()
                for name, file in self._of_module(module):
                    if name not in found:
                        found[name] = file
                        waiting += () if file is None else self._imported(file, name, lazy=lazy or module in begins)
            self._closures[begins, lazy] = found
        return self._closures[begins, lazy]

    def _of_module(self, module: str) -> Iterator[tuple[str, Path | None]]:
        """The names of a module and of the packages around it, and their files.

        What the project has comes first. One that is gone keeps the names that it can have had.
        """
        parts = module.split(".")
        bases = [(Path(folder), self.project.root) for folder in self.project.path]
        bases.append((Path(INSTRUMENT), Path(INSTRUMENT)))
        for length in range(1, len(parts) + 1):
            inside = "/".join(parts[:length])
            can_be = [(base / end, root) for base, root in bases for end in (f"{inside}.py", f"{inside}/__init__.py")]
            found = next(((path, root) for path, root in can_be if path.is_file()), None)
            if found is not None:
                yield found[0].relative_to(found[1]).as_posix(), found[0]
            else:
                yield from ((path.relative_to(root).as_posix(), None) for path, root in can_be)

    def _imported(self, file: Path, name: str, *, lazy: bool) -> frozenset[str]:
        """The modules that a file may import; ``lazy``: inside functions too."""
        if (file, lazy) not in self._imports:
            try:
                tree = ast.parse(file.read_bytes())
            except (OSError, SyntaxError, ValueError):
                tree = ast.Module([], [])
            package = name.removesuffix(".py").removesuffix("/__init__").removeprefix("src/").split("/")
            if file.name != "__init__.py":
                package = package[:-1]
            self._imports[file, lazy] = frozenset(_modules_in(tree.body, package, lazy))
        return self._imports[file, lazy]


def _modules_in(body: Iterable[ast.AST], package: list[str], lazy: bool) -> Iterator[str]:
    """What statements import; what stands below ``if TYPE_CHECKING`` is never loaded."""
    for node in body:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                yield from _modules_in(node.orelse, package, lazy)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if not lazy:
                continue
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                above = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
            case _:
                yield from _modules_in(ast.iter_child_nodes(node), package, lazy)

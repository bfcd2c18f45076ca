"""Authored cases of ``no_stub_output``: work that is missing, and work that is done and names what is missing."""

from __future__ import annotations

from typing import Any

from author_workloads import Draw
from corpus_text import around, name, thing

__all__ = ["BAD", "GOOD"]

VERBS = ("load", "merge", "price", "sort", "cancel", "archive", "publish", "render")


def _function(draw: Draw, body: str) -> dict[str, Any]:
    verb, subject = draw.of(VERBS), thing(draw)
    code = f"def {verb}_{subject}(rows):\n{body.format(v=verb, t=subject)}"
    return around(draw, f"```python\n{code}\n```", "\n")


def _whole(draw: Draw) -> str:
    return draw.of(
        (
            "    return sorted(rows, key=lambda row: row.{t})",
            "    kept = [row for row in rows if row.{t}]\n    return kept[:50]",
            "    total = sum(row.amount for row in rows)\n    return total / max(1, len(rows))",
            "    for row in rows:\n        row.{v}()\n    return rows",
        )
    )


BAD: dict[str, Any] = {
    "marker": lambda d: _function(d, f"    # {d.of(('TODO', 'FIXME'))}: {{v}} the {{t}} rows\n    return rows"),
    "marker in prose": lambda d: around(
        d, f"{thing(d).title()} costs: {d.of(('TBD', 'PLACEHOLDER'))}. Owner: {name(d)}."
    ),
    "slot": lambda d: around(d, f"Dear {name(d)}, your {thing(d)} was accepted. [Insert the date here] Kind regards."),
    "slot in other brackets": lambda d: around(
        d, f"Dear <customer name>, your {thing(d)} ships on <date>. Yours, <sender>."
    ),
    "empty body": lambda d: _function(d, "    pass"),
    "empty body, explained": lambda d: _function(d, "    # the {t} rows are walked here\n    pass"),
    "body of dots": lambda d: _function(d, "    ..."),
    "raises": lambda d: _function(d, "    raise NotImplementedError('{v} {t}')"),
    "elided": lambda d: _function(d, "    # ... rest of the {t} logic\n    return rows"),
    "elided, as before": lambda d: _function(d, "    # same as above, for each {t} row\n    return rows"),
    "goes here": lambda d: _function(d, "    # the {v} call goes here\n    return rows"),
    "for brevity": lambda d: around(d, f"The {thing(d)} handlers {2 + d.below(7)} to 12 were omitted for brevity."),
    "for now": lambda d: around(d, f"The {thing(d)} rate is hardcoded for now, so every total comes out alike."),
    "fixed answer": lambda d: _function(d, "    return [1, 2, 3]  # dummy value"),
    "always true": lambda d: _function(d, "    if rows or True:\n        return rows"),
    "test of nothing": lambda d: around(d, f"test('{thing(d)}', () => {{ expect(true).toBe(true); }});", "\n"),
    "promise": lambda d: {"output": f"I'll look into the {thing(d)} {d.of(VERBS)} step and get back to you shortly."},
    "promise in two": lambda d: {"output": f"Good question, {name(d)}. Let me check the {thing(d)} code first."},
    "promise in other words": lambda d: {
        "output": f"The {thing(d)} fix is on my list and you can count on it this week."
    },
    "left to the reader": lambda d: around(
        d, f"The {thing(d)} half is done. Writing the {d.of(VERBS)} half is left to you."
    ),
    "filler": lambda d: around(d, f"{thing(d).title()}: lorem ipsum dolor sit amet, consectetur adipiscing elit."),
}
GOOD: dict[str, Any] = {
    "whole function": lambda d: _function(d, _whole(d)),
    "whole function, noted": lambda d: _function(d, "    # an empty {t} list stays empty\n" + _whole(d)),
    "exception passed over": lambda d: _function(
        d, "    try:\n        rows.{v}()\n    except KeyError:\n        pass\n    return rows"
    ),
    "abstract": lambda d: around(
        d,
        f"class {thing(d).title()}(ABC):\n    @abstractmethod\n    def {d.of(VERBS)}(self):\n"
        "        raise NotImplementedError",
        "\n",
    ),
    "the marker spoken of": lambda d: around(d, f"I closed the TODO of {name(d)} and the {thing(d)} test covers it."),
    "markers spoken of": lambda d: around(d, f"TODO comments are banned in {thing(d)} by the linter of {name(d)}."),
    "found by search": lambda d: around(
        d,
        f"You asked where work is open: src/{thing(d)}.py:{3 + d.below(300)}: # TODO rename. There is no other.",
        "\n",
    ),
    "marker taken away": lambda d: around(
        d, f"```diff\n-    # FIXME: {d.of(VERBS)} the {thing(d)}\n+    rows.{d.of(VERBS)}()\n```", "\n"
    ),
    "size": lambda d: around(d, f"The {thing(d)} shirt comes in XXXL and in small; {name(d)} ordered both."),
    "short answer": lambda d: {"output": f"{d.of(('Yes', 'No'))}: {thing(d)} {d.of(('keeps', 'drops'))} empty rows."},
    "status of a server": lambda d: around(
        d, f"A server answers 501 when the {thing(d)} method is not implemented by it."
    ),
    "plan, then work": lambda d: around(
        d,
        f"I will check {thing(d)} first. The index lacks a key, so every read walks the table. Adding the key cut the "
        f"reads to one a row. The migration by {name(d)} adds it and the old rows were filled. All checks are through.",
    ),
    "offer at the end": lambda d: around(
        d,
        f"The {thing(d)} total was off because two rows share a key. The query now groups by both. Let me know if "
        f"{name(d)} wants the old figure as well.",
    ),
    "promise of a third": lambda d: around(
        d, f'{name(d)} wrote: "I will add the {thing(d)} tests". They are in the branch, and they pass.'
    ),
    "brevity as a virtue": lambda d: around(
        d, f"The {thing(d)} guide values brevity: one page, three examples, no preface."
    ),
    "later as a fact": lambda d: around(
        d, f"The {thing(d)} sweep runs an hour later in winter, as {name(d)} measured."
    ),
    "form": lambda d: around(d, f"A placeholder text in the {thing(d)} field tells users which date format to type."),
    "dots in prose": lambda d: around(d, f"Well... the {thing(d)} clock was slow, and {name(d)} has set it right."),
    "configuration": lambda d: around(d, f"if ({thing(d)}Ready || retries > {d.below(9)}) {{ start(); }}", "\n"),
    "hackathon": lambda d: around(d, f"{name(d)} won the {thing(d)} hackathon with a parser of forty lines."),
}

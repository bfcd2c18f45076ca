"""More authored cases of ``no_hallucination_markers``: schedules, limits, duties, bans, and what a text does not say.

The second half of :mod:`corpus_fabrication`, in the same form: a pair of what was given and an answer that keeps to it
or bends it, and answers that look bent and are not.
"""

from __future__ import annotations

from typing import Any

from author_workloads import Draw
from corpus_text import name, thing

__all__ = ["HARD", "PAIRS"]


def _pair(given: str, said: str) -> dict[str, Any]:
    return {"input": given, "output": said}


def _schedule(draw: Draw, keeps: bool) -> dict[str, Any]:
    hour, minute, subject = 1 + draw.below(8), 5 + draw.below(50), thing(draw)
    told = hour if keeps else hour + 2
    return _pair(
        f'{subject}:\n  schedule: "{minute} {hour} * * *"\n  image: {subject}-dump',
        f"By this file the {subject} dump runs every day at {told:02d}:{minute:02d}.",
    )


def _steps(draw: Draw, keeps: bool) -> dict[str, Any]:
    step, subject = draw.of((5, 10, 15, 20)), thing(draw)
    told = step if keeps else draw.of((2, 30, 45))
    return _pair(f"*/{step} * * * * sync {subject}", f"The {subject} sync is scheduled to run every {told} minutes.")


def _times_an_hour(draw: Draw, keeps: bool) -> dict[str, Any]:
    step, subject = draw.of((10, 12, 15, 20)), thing(draw)
    told = 60 // step if keeps else step
    return _pair(f"*/{step} * * * * sync {subject}", f"In an hour the {subject} sync happens {told} times.")


def _workdays(draw: Draw, keeps: bool) -> dict[str, Any]:
    hour, subject = 3 + draw.below(6), thing(draw)
    told = "on workdays" if keeps else "every day of the week"
    return _pair(
        f"crontab of {subject}: 0 {hour} * * 1-5", f"The {subject} job starts at {hour} in the morning {told}."
    )


def _side(draw: Draw, keeps: bool) -> dict[str, Any]:
    figure, subject = 50 + 10 * draw.below(30), thing(draw)
    word = "above" if keeps else "below"
    return _pair(
        f"Every {subject} refund above {figure} euros requires a second signature. Payment is by transfer.",
        f"A {subject} refund {word} {figure} euros requires a second signature.",
    )


def _youngest(draw: Draw, keeps: bool) -> dict[str, Any]:
    figure, subject = 7 + draw.below(80), thing(draw)
    told = f"once they are {figure} days old" if keeps else f"while they are not yet {figure} days old"
    return _pair(f"Files of {subject} older than {figure} days are deleted.", f"The {subject} files go {told}.")


def _certain(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject = thing(draw)
    word = "may" if keeps else "will"
    return _pair(
        f"A second {subject} call may duplicate the order. Ask {name(draw)} before a third.",
        f"From the note: a second {subject} call {word} duplicate the order.",
    )


def _mandatory(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject = thing(draw)
    word = "recommended" if keeps else "mandatory"
    return _pair(
        f"It is recommended to rotate the {subject} keys each spring.",
        f"A yearly change of the {subject} keys is {word}.",
    )


def _ban(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject = thing(draw)
    given = f"House rules\n- Never use the {subject} root account.\n- Ask {name(draw)} for access."
    return _pair(given, f"Use the {subject} {'reader' if keeps else 'root'} account to look at the numbers.")


def _off_limits(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject = thing(draw)
    said = "a token of its own" if keeps else f"the {subject} master key"
    return _pair(f"The {subject} master key is off limits for scripts.", f"Hand {said} to the script, {name(draw)}.")


def _lack(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject, told = thing(draw), "restores" if keeps else "backups"
    given = f"About {subject}\nBackups run at night and are kept for a month.\nQuestions go to {name(draw)}."
    return _pair(given, f"I went through the page on {subject}. The document does not mention {told}.")


def _unowned(draw: Draw, keeps: bool) -> dict[str, Any]:
    subject, person = thing(draw), name(draw)
    said = f"{person} is in charge" if keeps else "nobody is in charge"
    return _pair(f"{person} looks after {subject} since March.", f"As far as the note goes, {said} of {subject}.")


def _stranger(draw: Draw, keeps: bool) -> dict[str, Any]:
    one, other, subject = "Anneli Novik", "Oskar Szalai", thing(draw)
    given = f"{one}: I moved {subject} to the new rack.\n{other}: my part of {subject} is still on the old one."
    return _pair(given, f"According to {one if keeps else 'Ruth Albers'}, {subject} moved to another rack.")


def _another_zone(draw: Draw) -> dict[str, Any]:
    hour, subject = 1 + draw.below(9), thing(draw)
    given = f"{subject} cron, server clock in UTC: 30 {hour} * * *\nWhen is that in summer in Paris?"
    return _pair(given, f"In Paris the {subject} job runs at {hour + 2}:30 CEST.")


def _later(draw: Draw) -> dict[str, Any]:
    hour, subject = 1 + draw.below(6), thing(draw)
    given = f"0 {hour} * * * dump {subject}\nThe index of {subject} is built three hours after the dump."
    return _pair(given, f"The {subject} index build starts at {hour + 3:02d}:00.")


def _two_jobs(draw: Draw) -> dict[str, Any]:
    hour, subject = 1 + draw.below(6), thing(draw)
    given = f"15 {hour} * * * dump {subject}\n45 {hour + 3} * * 1 report {subject}"
    return _pair(given, f"The {subject} report runs every Monday at {hour + 3}:45, and {name(draw)} reads it.")


def _quiet_side(draw: Draw) -> dict[str, Any]:
    figure, subject = 60 + draw.below(35), thing(draw)
    return _pair(
        f"The {subject} alert fires above {figure}% load.", f"The {subject} alert stays quiet below {figure}% load."
    )


def _converse(draw: Draw) -> dict[str, Any]:
    figure, subject = 20 + draw.below(60), thing(draw)
    return _pair(
        f"A {subject} test passes with at least {figure} points.",
        f"A {subject} test with fewer than {figure} points is failed.",
    )


def _other_duty(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"Clients may retry the {subject} call. Clients must close the {subject} session within a minute."
    return _pair(given, f"Clients must close the {subject} session within a minute, {name(draw)}.")


def _on_condition(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"You may restart {subject} at night. Without a restart the new limits are not read."
    return _pair(given, f"To have the new limits read, you must restart {subject} at night.")


def _ban_told(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    return _pair(
        f"Never run the {subject} cleanup by hand.",
        f"Run the {subject} cleanup by hand? The rules forbid it, so let the scheduler do it.",
    )


def _only_asked(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"Does the text say anything of {subject} refunds?\n\nReturns of {subject} take {3 + draw.below(9)} days."
    return _pair(given, f"The text does not mention {subject} refunds.")


def _by_surname(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"Anneli Novik: I moved {subject} to the new rack.\nOskar Szalai: my part of it is still on the old one."
    return _pair(given, f"According to Novik, {subject} is on another rack.")


PAIRS: dict[str, Any] = {
    "schedule": _schedule,
    "schedule in steps": _steps,
    "times an hour": _times_an_hour,
    "days of a schedule": _workdays,
    "side of a limit": _side,
    "age of a file": _youngest,
    "may and will": _certain,
    "recommended and mandatory": _mandatory,
    "ban": _ban,
    "off limits": _off_limits,
    "what a document lacks": _lack,
    "who is in charge": _unowned,
    "a stranger's word": _stranger,
}
"""Families that come in both labels."""

HARD: dict[str, Any] = {
    "another time zone": _another_zone,
    "time worked out": _later,
    "two schedules": _two_jobs,
    "quiet side of a limit": _quiet_side,
    "converse of a limit": _converse,
    "another duty": _other_duty,
    "duty on a condition": _on_condition,
    "ban that is told": _ban_told,
    "only asked about": _only_asked,
    "by surname": _by_surname,
}
"""Clean families that look like a fault."""

"""Clean cases of ``no_hallucination_markers`` in which a fault stands and is not asserted, or is about something else.

The third part of :mod:`corpus_fabrication`, all of it good: what is denied, asked, quoted, past or reported, a second
subject beside the first, a thing that is named and not told of, and what only looks like a person.
"""

from __future__ import annotations

from typing import Any

from author_workloads import Draw
from corpus_text import name, thing

__all__ = ["UNSAID"]


def _pair(given: str, said: str) -> dict[str, Any]:
    return {"input": given, "output": said}


def _cron(subject: str, hour: int) -> str:
    return f"0 {hour} * * * tidy {subject}"


def _denied_schedule(draw: Draw) -> dict[str, Any]:
    subject, hour = thing(draw), 1 + draw.below(8)
    said = draw.of(("It is a rumour that the job runs every hour.", "The job does not run every hour."))
    return _pair(_cron(subject, hour), f"{said} Once a day, in the small hours, {subject} is tidied.")


def _past_schedule(draw: Draw) -> dict[str, Any]:
    subject, hour = thing(draw), 1 + draw.below(8)
    said = f"Until {name(draw)} rewrote the line, the {subject} job used to run every 5 minutes."
    return _pair(_cron(subject, hour), f"{said} Today it is once a day.")


def _other_subject(draw: Draw) -> dict[str, Any]:
    subject, hour = thing(draw), 1 + draw.below(6)
    other = draw.of(("The help desk opens, and its shift starts at 9:30.", "A heartbeat runs every minute."))
    return _pair(_cron(subject, hour), f"{other} The {subject} tidying is a matter of cron.")


def _asked_limit(draw: Draw) -> dict[str, Any]:
    figure, subject = 50 + draw.below(40), thing(draw)
    given = f"Alert when {subject} load is above {figure}%."
    return _pair(given, f"Is an alert sent when {subject} load is below {figure}%? It is the other way round.")


def _quoted_limit(draw: Draw) -> dict[str, Any]:
    figure, subject = 50 + draw.below(40), thing(draw)
    given = f"Alert when {subject} load is above {figure}%."
    said = f'{name(draw)} read it as "alert when {subject} load is below {figure}%" and was put right by the team.'
    return _pair(given, f"{said} High load is what counts.")


def _other_way(draw: Draw) -> dict[str, Any]:
    figure, subject = 40 + draw.below(40), thing(draw)
    return _pair(f"Scale {subject} out above {figure}%.", f"Scale {subject} in below {figure}%.")


def _believed_duty(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"Clients may retry the {subject} call once."
    return _pair(given, f"{name(draw)} believes that clients must retry the {subject} call once, but it is a choice.")


def _only_place(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    return _pair(f"You can cancel {subject} at the desk.", f"You have to cancel {subject} at the desk.")


def _ability(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    return _pair(f"The {subject} reader can unpack archives.", f"The {subject} reader will unpack archives.")


def _gerund(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    told = draw.of(("locks every table", "costs a day of work", "is what we saw go astray in spring"))
    return _pair(f"Never run the {subject} import by hand.", f"Running the {subject} import by hand {told}.")


def _list_of_bans(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"Never use the {subject} root account."
    head = draw.of(("Forbidden here:", "## What breaks the house rules", "Do not do any of this:"))
    return _pair(given, f"{head}\n\nUse the {subject} root account.\nShare a password with {name(draw)}.")


def _pointer(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    rest = draw.of(
        ("is covered elsewhere", "follows in a later edition", "is left to another leaflet", "is on request")
    )
    given = f"Pricing of {subject}\nPricing {rest}. {name(draw)} wrote this page."
    return _pair(given, "The document does not describe pricing.")


def _unnamed(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"Notes on {subject}\nThe supplier has sent {2 + draw.below(9)} boxes."
    return _pair(given, "The document does not name the supplier.")


def _no_person(draw: Draw) -> dict[str, Any]:
    subject, given_by = thing(draw), "Anneli Novik"
    given = f"{given_by}: I moved {subject} to the new rack.\nOskar Szalai: my part is still on the old one."
    source = draw.of(("Annex Four", "Rack Planner", "North Hall", "Tuesday Minutes", "Silver Lake"))
    return _pair(given, f"According to {source}, {subject} moved to the new rack.")


def _denied_word(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"Anneli Novik: I moved {subject} to the new rack.\nOskar Szalai: my part is still on the old one."
    return _pair(given, f"Nowhere is it noted that Ruth Albers said anything of the {subject} rack.")


def _denied_lack(draw: Draw) -> dict[str, Any]:
    subject = thing(draw)
    given = f"About {subject}\nBackups run at night and are kept for a month."
    return _pair(given, f"It would be wrong, {name(draw)}, to say that the document does not mention backups.")


UNSAID: dict[str, Any] = {
    "schedule denied": _denied_schedule,
    "schedule of the past": _past_schedule,
    "another thing that runs": _other_subject,
    "limit asked about": _asked_limit,
    "limit misread by somebody": _quoted_limit,
    "the other way": _other_way,
    "duty that is believed": _believed_duty,
    "only place": _only_place,
    "ability": _ability,
    "ban as a subject": _gerund,
    "list of bans": _list_of_bans,
    "pointer to elsewhere": _pointer,
    "thing without a name": _unnamed,
    "no person": _no_person,
    "word that is denied": _denied_word,
    "lack that is denied": _denied_lack,
}
"""Clean families that hold the words of a fault."""

"""The signs of fabrication in schedules, limits, duties, bans, and in what is said of the material itself."""

from __future__ import annotations

import pytest
from hypothesis import given as fuzzed
from hypothesis import strategies as st

from kpis.rules.cron import DAY, cron_lines
from kpis.rules.hallucination import CONTEXT
from kpis.rules.material import Material

SHOWN: dict[str, list[tuple[str, str]]] = {
    "cron-contradiction": [
        ("schedule: 0 2 * * *", "It runs at 3 AM every day."),
        ("schedule: 0 2 * * *", "The job runs every day at 3 AM."),
        ("0 2 * * * backup", "The backup runs daily at 14:00."),
        ("*/15 * * * *", "It runs every 5 minutes."),
        ("0 2 * * *", "It runs every 2 hours."),
        ("0 2 * * 1", "The job runs every day at 2 AM."),
        ("0 2 * * 1", "The job runs on Tuesdays at 2 AM."),
        ("0 2 * * *", "The job runs at midnight."),
        ("cron: 0 2 * * 1-5", "It is scheduled to run every Sunday at 2 AM."),
        ("0 2 * * *", "It runs weekly."),
        ("0 0 1 * *", "It runs daily at midnight."),
        ("0 * * * *", "It runs every minute."),
        ("30 4 * * *", "Scheduled daily at 4:00 a.m."),
        ("timezone: UTC\n0 2 * * *", "It runs daily at 3 AM UTC."),
        ("0 2 * * * sweep", "The sweep runs every hour on the server."),
        (
            'ledger:\n  schedule: "5 3 * * *"\n  image: ledger-dump',
            "By this file the ledger dump runs every day at 05:05.",
        ),
        ("0 9 * * 1 report", "The report is sent every Friday at 9 am."),
        ("# nightly cleanup\n0 3 * * * /opt/x.sh", "The cleanup runs every hour."),
        ("0 3 * * * sweep", "According to the crontab, the sweep runs every hour."),
        ("*/15 * * * * poll", "The poller runs every 30 minutes."),
    ],
    "threshold-flip": [
        ("Alert fires below 90 %.", "Fires above 90 %."),
        ("Alert when billing load is above 40%.", "An alert is sent for billing load below 40%."),
        ("Orders over $50 ship free.", "Orders under $50 ship free."),
        ("Refunds require approval above 100 euros.", "Refunds below 100 euros require approval."),
        ("The discount applies to at least 10 units.", "The discount applies to at most 10 units."),
        (
            "Page the team if the queue has more than 500 jobs.",
            "The team is paged when the queue has fewer than 500 jobs.",
        ),
        ("Customers aged 65 or older qualify.", "Customers aged 65 or younger qualify."),
        ("cpu alert: > 90%", "The cpu alert fires below 90%."),
        ("Files older than 30 days are deleted.", "Files younger than 30 days are deleted."),
    ],
    "modality-strengthening": [
        ("You may restart it.", "You must restart it."),
        ("Clients may retry the search call once.", "By the guide, clients must retry the search call once."),
        ("The job may lose data.", "The job will lose data."),
        ("Users can export their invoices.", "Users are required to export their invoices."),
        ("Operators should rotate the keys monthly.", "Operators must rotate the keys monthly."),
        ("You may restart the server.", "They need to restart the server."),
        ("Clients may retry the call.", "Clients must retry the call."),
        ("Clients may retry the call.", "The guide says that clients must retry the call."),
        ("Employees can work from home on Fridays.", "Employees are required to work from home on Fridays."),
    ],
    "forbidden-recommendation": [
        ("Never use eval.", "Use eval to read the file."),
        ("Do not run terraform destroy.", "You should run terraform destroy."),
        ("Rules:\n- Avoid using moment.js.", "I recommend using moment.js for dates."),
        ("Don't install the nightly build.", "Install the nightly build, then restart."),
        ("Do not install foo.", "I recommend installing foo."),
        ("Never use eval.", "Here you go.\nUse eval to parse it."),
    ],
    "false-absence-claim": [
        ("Refunds take 3 days.", "The document does not mention refunds."),
        (
            "Does the document mention refunds?\n\nReturns policy\nRefunds take 3 days. Owner: Kofi Brandt\nTime = 3\n",
            "The document doesn't mention any refunds.",
        ),
        ("Component: search\nOwner: Kofi", "There is no mention of an owner."),
        ("Owner: Kofi", "I read it. The owner is not mentioned anywhere in the document."),
        ("- Late fees are 5 dollars.", "The text does not mention late fees, only deposits."),
        ("A refund is paid within 3 days.", "Refunds are not mentioned."),
        ("Warranty: two years", "The warranty is not specified."),
        ("The fee is $20.", "The document does not state the fee."),
        ("The deadline is Friday.", "The document does not specify the deadline."),
    ],
    "ungrounded-attribution": [
        ("Mara Brandt: we drop search.\nKofi Tanabe: I would keep it.", "According to Peter Novik, search is dropped."),
        ("Mara Brandt said it rains.", "Jane Roe said it rains."),
        ("Anna Berg said the launch is in May.", "According to Peter Lang, the launch is in May."),
        ("Anna Berg said the launch is in July.", "Sarah Jones stated that the launch is in August."),
        ("Anna Berg said the launch is in July.", "As Dr. Nwosu Eze said, the launch is late."),
        ("Anna Berg said the launch is in July.", "According to Chidi Eze the launch is in July, as he knows."),
    ],
}

QUIET: dict[str, list[tuple[str, str]]] = {
    "cron-contradiction": [
        ("schedule: 0 2 * * *", "It runs at 2 AM every day."),
        ("schedule: 0 2 * * *", "It runs at 2:00 every day."),
        ("schedule: 0 14 * * *", "It runs at 2:00 every day."),
        ("*/15 * * * *", "It runs every 15 minutes."),
        ("*/15 * * * *", "It runs every quarter of an hour."),
        ("0 */2 * * *", "It runs every two hours."),
        ("0 2 * * 1-5", "It runs daily at 2 AM on weekdays."),
        ("0 2 * * 1-5", "The job runs every weekday at 2 AM."),
        ("0 2 * * 1-5", "It runs on Monday at 2 AM."),
        ("0 2 * * *", "In Berlin it runs at 3 AM CET."),
        ("0 2 * * * UTC", "It runs daily at 4 AM CEST."),
        ("0 2 * * *", "You should run it at 3 AM every day."),
        ("0 2 * * *", "Change it to 0 3 * * * and it runs at 3 AM."),
        ("0 2 * * *", "The run started at 2 AM and the upload at 3 AM."),
        ("0 2 * * *", "It now runs at 3 AM every day."),
        ("0 0 2 * * ?", "It runs at 3 AM."),
        ("0 2 * * *\n0 5 * * * report", "The report runs at 5 AM."),
        ("Backup daily at 3 AM. Cron for cleanup: 0 2 * * *", "The backup runs daily at 3 AM."),
        ("0 2 * * *", "The job runs at 100% load."),
        ("0 2 * * *", "It starts at 4 workers."),
        ("0 2 * * *", "It runs at 3.5 GHz."),
        ("2 * 3 * 4", "It runs at 3 AM."),
        ("0 9-17 * * *", "It runs every hour from nine to five."),
        ("0 2 * * *", "It fires once every 24 hours."),
        ("0 0 1 * *", "It runs at midnight on the first of the month."),
        ("15 * * * *", "It runs every hour at 15 past."),
        ("*/7 * * * *", "It runs every 7 minutes."),
        ("0 2 * * 7", "It runs every Sunday at 2am."),
        ("0 12 * * *", "It runs every day at noon."),
        ("0 0 * * *", "It runs nightly at 12 AM."),
        ("0 2 * * *", "It starts at 9 the next day."),
        ("Every Friday we look. 0 2 * * 1", "It runs every Friday."),
        ("0 2 * * * and 0 3 * * 1", "It runs weekly."),
        ("0 3 * * * sweep", "The office is open daily at 9:00. The sweep is scheduled for 3 am."),
        ("0 3 * * * sweep", "Users log in daily at 9:00 and start at 8:30."),
        ("0 3 * * * sweep", "The report job, which is not in this crontab, runs weekly on Monday."),
        ("0 3 * * * sweep", "The sweep runs daily, unlike the audit, which runs weekly."),
        ("0 3 * * * sweep", "The health check runs every minute; it is a systemd timer."),
        ("0 3 * * * sweep", "The maintenance window starts at 2 am."),
        ("0 3 * * * sweep", "The sweep runs at 3 am, and it was triggered at 4:10 pm by hand."),
        ("0 3 * * * sweep", "The cleanup for the sweep runs every 5 minutes."),
        ("0 3 * * * sweep", "Monitoring is separate. It runs every 5 minutes."),
        ("0 3 * * * sweep", "The lock of the sweep is freed by a timer that runs every minute."),
        ("0 3 * * * sweep", "The sweep job's log rotation runs weekly."),
        ("0 3 * * * sweep", "The sweep starts at 3:00 and the report starts at 4:00."),
        ("0 3 * * * sweep", "`*/5 * * * *` runs every 5 minutes."),
        ("0 3 * * * sweep", "In Delhi it runs at 8 am."),
        ("0 3 * * * sweep", "In the clinic and on the ward it starts at 8 am."),
        ("*/5 * * * * ping", "Ping is run every hour, on the hour, and at each further 5 minutes."),
        ("0 9 * * 1-5 report", "The report runs every working day at 9 in the morning. No run on Sunday."),
    ],
    "threshold-flip": [
        ("Alert fires above 90 %.", "Fires above 90 %."),
        ("Alert when load is above 90%.", "No alert is sent while load is below 90%."),
        ("Alert when load is above 90%.", "The alert clears below 90%."),
        ("Alert when load is above 90%.", "Load is normally below 90%."),
        ("Alert when load is above 90%.", "The load must be below 90%."),
        ("Approve if amount is below 50, else escalate.", "Escalates amounts above 50."),
        ("Orders over $50 ship free.", "Orders under $50 cost 5 dollars to ship."),
        ("Orders over $50 ship free.", "Orders under $50 do not ship free."),
        ("Warn above 80%, page above 90%.", "It pages above 90%."),
        ("Alert when load is above 90%.", "Alerts could fire below 90%."),
        ("if load < 90: return; alert()", "Alerts above 90."),
        (
            "Alert when load is above 90%. Load below 90% raises an alert on weekends.",
            "Load below 90% raises an alert.",
        ),
        ("Passing needs at least 50 points.", "Students with less than 50 points fail."),
        ("Members over 18 may vote.", "Members under 18 may not vote."),
        ("The pass mark is at least 50 points.", "Fewer than 50 points is a fail."),
        ("Refunds over 30 days are denied.", "Refunds under 30 days are accepted."),
        ("Keep the temperature below 8 degrees.", "The alarm sounds above 8 degrees."),
        ("Retries at most 3 times.", "It retries up to 3 times."),
        ("Retries no more than 3 times.", "It retries 3 times or less."),
        ("Over 90 people came.", "It took under 90 minutes."),
        ("Latency was under 200 ms in 99% of calls.", "Only 1% of calls took over 200 ms."),
        ("At least 5 characters are required.", "Names under 5 characters are rejected."),
        ("Charge 5 dollars for orders under 20 dollars.", "Orders over 20 dollars are free of charge."),
        ("Fees apply below 20 dollars.", "Fees are waived above 20 dollars."),
        ("Alerts fire above 90%.", "Alerts fire above 90% and recover below 90%."),
        ("Accounts locked after more than 5 attempts.", "Accounts with less than 5 attempts are fine."),
        ("Fail if coverage is below 80%.", "Pass if coverage is above 80%."),
        ("The build fails below 80% coverage.", "The build passes above 80% coverage."),
        ("The build fails below 80% coverage.", "The build passes with more than 80% coverage."),
        ("CPU of host A is above 90%.", "CPU of host B is below 90%."),
        ("The first server is above 90% load.", "The second server is below 90% load."),
        ("Temperature in K\xf6ln is above 30 degrees.", "Temperature in \u0141\xf3d\u017a is below 30 degrees."),
        ("Disk 1 is over 80% full.", "Disk 2 is under 80% full."),
        ("Scale up above 70%.", "Scale down below 70%."),
        ("Scale when load is above 70%.", "Scale in when load is below 70%."),
        ("Scale in when load is below 70%.", "Scale when load is above 70%."),
        ("Block requests larger than 10 MB.", "Requests smaller than 10 MB get through the block."),
    ],
    "modality-strengthening": [
        ("You may restart it.", "You may restart it."),
        ("You must restart it.", "You must restart it."),
        ("You may restart it. Admins must restart it nightly.", "You must restart it."),
        ("You may not enter the lab.", "You must not enter the lab."),
        ("You can pay by card or by cash.", "You must pay by card or by cash."),
        ("You can click Export.", "To export, you must click Export."),
        ("You may restart the server.", "I will restart the server."),
        ("You may restart the server.", "This will restart the server."),
        ("Clients may retry once.", "Clients may only retry once."),
        ("Clients may retry once.", "If it fails, clients must retry once."),
        ("Clients may retry the call.", "Servers must retry the call."),
        ("Clients may retry the call.", "Clients must sign the call."),
        ("May 5 we meet.", "You must meet."),
        ("You may restart it.", "Do you have to restart it?"),
        ("You may restart it.", "You do not have to restart it."),
        ("You may bring a guest.", "You must bring an ID."),
        ("Should I restart it? You can restart it.", "You should restart it."),
        ("The file may be empty.", "The file must be closed."),
        ("It can rain.", "It will be fine."),
        ("Can you restart the server?", "I have to restart the server."),
        ("You can reset the password on the login page.", "You need to reset the password on the login page."),
        ("The parser can read YAML.", "The parser will read YAML."),
        ("The parser may read YAML.", "Given a path, the parser will read YAML."),
        ("You can export the data.", "For a copy, you have to export the data."),
        ("Tickets can be exchanged at the desk.", "Tickets must be exchanged at the desk, not online."),
        ("You may cancel within 14 days.", "You have to cancel within 14 days."),
        ("Servers may retry.", "Servers must retry, or the call is lost."),
    ],
    "forbidden-recommendation": [
        ("Never use eval.", "Never use eval."),
        ("Never use eval.", "Use ast.literal_eval to read the file."),
        ("Never use eval in production.", "Use eval in the tests."),
        ("Never use eval.", "Use evaluate instead."),
        ("Do not use eval.", "The rule says: do not use eval."),
        ("Never use eval.", "What not to do:\nUse eval"),
        ("Never use eval.", "- Use eval"),
        ("Never use eval.", "Use json.loads rather than eval."),
        ("Never use eval.", "You could use eval."),
        ("Never use eval. In tests: fine.\nUse eval in tests.", "Use eval in tests."),
        ("Never use eval unless asked.", "Use eval as asked."),
        ("Never use rm.", "Use rm-safe."),
        ("Do not use tabs, use spaces.", "Use tabs."),
        ("Why should I never use eval?", "Use eval only in a sandbox."),
        ("Never run the cleanup.", "Run the cleanup? The rules forbid it."),
        ("Never use eval.", "Using eval is dangerous."),
        ("Never use eval.", "Use of eval is banned. Using eval leads to injection."),
        ("Do not use goto.", "Using goto makes code hard to read."),
        ("Never run as root.", "Running as root is a habit."),
        ("Do not install packages globally.", "Installing packages globally pollutes the system."),
        ("Never use eval.", "Forbidden:\nuse eval"),
        ("Never use eval.", "Things that break the rules:\n\nUse eval.\nUse md5."),
        ("Never use eval.", "# What not to write\nUse eval here."),
        ("Never use eval.", "```\nuse eval\n```\nis in the file."),
        ("Never use eval.", "| forbidden |\n|---|\nuse eval"),
        ("Never use eval.", "Use eval and you will be fired."),
        ("Never use eval.", "Use eval at your peril."),
        ("Never use var.", "Use var in C#."),
        ("Do not use Redis.", "Use Redis, they said; the policy differs."),
    ],
    "false-absence-claim": [
        ("Shipping costs 5 dollars.", "Shipping is not included."),
        ("Refunds take 3 days.", "The log makes no mention of refunds."),
        ("Refunds take 3 days.", "In the log there is no mention of refunds."),
        ("Refunds take 3 days.", "There is no mention of refunds, in the log."),
        ("Refunds take 3 days.", "In section 4 there is no mention of refunds."),
        ("Refunds take 3 days.", "Section 4 covers returns. There is no mention of refunds."),
        ("Time zones are hard.", "The document does not mention time."),
        ("Does the document mention refunds? Returns take 3 days.", "The document does not mention refunds."),
        ("Refunds take 3 days.", "The document mentions refunds."),
        ("Refunds take 3 days.", "The document does not mention refunds for minors."),
        ("Refunds take 3 days.", "Section 4 does not mention refunds."),
        ("Refunds: not offered", "The document does not mention refunds."),
        ("Find the refund policy. Returns take 3 days.", "The document does not mention refunds."),
        ("Refunds take 3 days.", "The document does not explicitly mention refunds."),
        ("Refunds take 3 days.", "If the document does not mention refunds, ask."),
        ("Refunds are my question. Returns take 3 days.", "The document does not mention refunds."),
        ("Information is here.", "The document does not contain information."),
        ("Refunds?\nReturns take 3 days.", "The document does not mention refunds."),
        ("Refunds take 3 days.", "The log does not mention refunds."),
        ("Refunds take 3 days.", "The document does not mention shipping."),
        ("Owner:\nTimeout: 3", "The owner is not mentioned."),
        ("Returns take 3 days, and refunds are asked about.", "There is no mention of refunds."),
        ("Refund policy of the shop: 3 days.", "The document does not mention refunds."),
        ("Refunds: ?\n", "The document does not mention refunds."),
        ("Pricing is covered elsewhere.", "The document does not describe pricing."),
        ("Pricing is described in a separate sheet.", "The document does not describe pricing."),
        ("Pricing is outside the scope of this guide.", "The document does not describe pricing."),
        ("Pricing has been removed from this page.", "The document does not describe pricing."),
        ("Pricing will follow.", "The document does not describe pricing."),
        ("Pricing is left out here.", "The document does not describe pricing."),
        ("Pricing has its own page.", "The document does not describe pricing."),
        ("The deadline is to be announced.", "The document does not specify the deadline."),
        ("The bonus has yet to be agreed.", "The document does not specify the bonus."),
        ("The price is available on request.", "The document does not state the price."),
        ("The price depends on the region.", "The document does not state the price."),
        ("Author: see imprint", "The document does not name the author."),
        ("Phone: -\nMail: x", "The document does not list a phone."),
        ("The manager was present.", "The document does not name the manager."),
        ("Refunds are easy.", "The document does not specify refunds."),
        ("Parental leave: see HR.", "The document does not specify parental leave."),
    ],
    "ungrounded-attribution": [
        ("Release Notes: fixed.\nKnown Issues: none of them.", "According to Albert Einstein, time is relative."),
        ("Mara Brandt: we drop search.", "According to Mara Brandt, search is dropped."),
        ("Mara Brandt: we drop search.", "Yesterday Mara Brandt said that search is dropped."),
        ("Mara Brandt: we drop search.", "The Product Owner said that search is dropped."),
        ("Summarise the plan.", "According to Albert Einstein, time is relative."),
        ("Mara Brandt: we drop search.", "Perhaps Peter Novik said so."),
        ("Mara Brandt: we drop search.", "According to the speaker, search is dropped."),
        ("Mara Brandt: we drop search.", "Brandt said that search is dropped."),
        ("Mara Brandt: we drop search, Novik agreed.", "Peter Novik said so."),
        ("TODO List: we drop.", "According to Jane Roe it is."),
        ("Anna Berg said the launch is in July.", "According to Google Maps, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Visual Studio, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to New York law, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to United States rules, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Clean Code, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to General Motors, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Amazon Web Services, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to San Francisco, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Table Three, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Chapter Seven, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Annex Two, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Monday Morning notes, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Second Draft, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Maria Island, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Martin Bank, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Agile Manifesto, the launch is in July."),
        ("Anna Berg said the launch is in July.", "According to Peter Lang's notes, the launch is in July."),
        ("Anna Berg said the launch is in July.", "Release Notes state the launch is in July."),
        ("Anna Berg said the launch is in July.", "Albert Einstein said that time is relative."),
        ("Bob: I want July.\nAnna Berg said August.", "According to Robert Stone, it is July."),
        ("Anna Berg said the launch is in July.", "No one like John Smith said that of the launch."),
    ],
}


def _each(table: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str, str]]:
    return [(sign, *pair) for sign, pairs in table.items() for pair in pairs]


@pytest.mark.parametrize(("sign", "given", "said"), _each(SHOWN))
def test_what_contradicts_shows(sign: str, given: str, said: str) -> None:
    assert CONTEXT[sign](Material(given, said))


@pytest.mark.parametrize(("sign", "given", "said"), _each(QUIET))
def test_what_only_looks_so_does_not(sign: str, given: str, said: str) -> None:
    assert not CONTEXT[sign](Material(given, said))


@pytest.mark.parametrize(("sign", "given", "said"), _each(SHOWN))
def test_repeating_what_was_given_is_no_sign(sign: str, given: str, said: str) -> None:
    assert not CONTEXT[sign](Material(given, given))
    assert not CONTEXT[sign](Material(f"{given}\n\n{said}", given))


@pytest.mark.parametrize(
    ("text", "times", "gaps"),
    [
        ("0 2 * * *", {120}, {DAY}),
        ("`30 */6 * * *`", {30, 390, 750, 1110}, {360}),
        ("cron: 0,30 9-10 * * MON-FRI", {540, 570, 600, 630}, {30, 1350}),
        ("5/20 * 1 * *", {60 * hour + minute for hour in range(24) for minute in (5, 25, 45)}, {20}),
    ],
)
def test_when_a_cron_line_runs(text: str, times: set[int], gaps: set[int]) -> None:
    found = cron_lines(text)
    assert found is not None
    assert [(each.times, each.gaps) for each in found] == [(times, gaps)]


@pytest.mark.parametrize(
    "text",
    [
        *("0 0 2 * * ?", "2 * 3 * 4 = 24", "* * * * *", "0 2 1 * 1", "12 0 2 * * *", "0 22-6 * * *", "0 25 * * *"),
        *("0 2 L * *", "0 2 * * * and 0 0 12 ? * MON", "*/0 2 * * *", "0 2 * * 9", "0 2 * * *\n" * 201),
    ],
)
def test_a_line_that_is_not_certain_makes_all_uncertain(text: str) -> None:
    assert cron_lines(text) is None


def test_a_row_of_numbers_is_no_cron_line() -> None:
    assert cron_lines("1 2 3 4 5 and 10 20 30 40 50 60") == []


def test_days_are_those_of_the_line() -> None:
    lines = cron_lines("0 2 * * 1-5\n0 2 * * sun,sat\n0 2 1 * *")
    assert lines is not None
    assert [sorted(each.weekdays) for each in lines] == [[1, 2, 3, 4, 5], [0, 6], [0, 1, 2, 3, 4, 5, 6]]
    assert [each.daily for each in lines] == [False, False, False]


_PIECES = st.sampled_from([text for pairs in (*SHOWN.values(), *QUIET.values()) for pair in pairs for text in pair])
_TEXT = st.lists(_PIECES | st.text(max_size=6), max_size=6).map(" ".join)


@pytest.mark.parametrize("sign", list(SHOWN))
@fuzzed(_TEXT, _TEXT)
def test_any_two_texts_have_an_answer_and_no_text_contradicts_itself_by_being_repeated(
    sign: str, given: str, said: str
) -> None:
    shows = CONTEXT[sign]
    assert shows(Material(given, said)) in {True, False}
    assert not shows(Material("", said))

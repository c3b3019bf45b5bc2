"""`quintain doctor`: the questions of `server/doctor.py`, a line for each answer."""

from server.commands.flags import Flag
from server.commands.keeping import KEPT, StoreOptions
from server.exits import DONE, FAILED, ConfigError
from server.net.escaping import json_line
from server.programs.terminal import say


def doctor(*, json: Flag = False, where: StoreOptions = KEPT) -> int:
    """Check whether a host can run here, and say what is wrong.

    Python, SQLite, the data folder and what is kept in it, room on the disk,
    the certificate, ports, the clock, open files, and with --store the
    database and the hosts that share it: a line for each, and what to do. Exit
    code 0 if a host can run, else 1. The host may be running.

    Example: before a host is started, or while it runs:

        quintain doctor --data quintain-data

    Parameters
    ----------
    json
        The answers as one JSON object.
    """
    from server.doctor import Diagnosis, Severity, examination

    try:
        answers = list(examination(where.settings()))
    except ConfigError as error:
        answers = [
            Diagnosis("configuration", Severity.FAULT, str(error), "mend it: nothing else was looked at")
        ]
    well = all(answer.state is not Severity.FAULT for answer in answers)
    if json:
        say(json_line({"ok": well, "checks": answers}))
    else:
        for answer in answers:
            say(f"{answer.state:8} {answer.about}: {answer.said}{answer.advice and f': {answer.advice}'}")
    return DONE if well else FAILED

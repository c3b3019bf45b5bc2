"""The organiser's token, where commands find it: `test_commands_host.py` has the rest of the client."""

from pathlib import Path

import pytest

from server.exits import Failure
from server.programs.api_client import Remote
from server.store.data_folder import VARIABLE, organiser_token

NOBODY = "http://127.0.0.1:1"  # nothing is asked there


def test_a_token_may_come_with_the_end_of_its_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As it does from most files of secrets; the host and the commands read it alike."""
    monkeypatch.setenv(VARIABLE, "of my own choosing\r\n")
    assert organiser_token(tmp_path).text == "of my own choosing"
    with pytest.raises(Failure, match="no host answers"):
        Remote(NOBODY).post("tournaments")


@pytest.mark.parametrize("token", ["two\nlines", "schlüssel", "\x00"])
def test_a_token_that_no_request_can_carry_is_refused_with_a_sentence(token: str) -> None:
    with pytest.raises(Failure, match="one line of ASCII"):
        Remote(NOBODY, token).post("tournaments")

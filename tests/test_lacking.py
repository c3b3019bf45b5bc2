"""What a machine lacks is a reason to skip a test at home, and nowhere else."""

import pytest

from tests.lacking import lacking

WHAT = "there is no abacus"


def test_what_is_lacking_is_skipped_at_home_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=WHAT):
        lacking(WHAT)


def test_what_is_lacking_under_continuous_integration_fails_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=WHAT):
        lacking(WHAT)

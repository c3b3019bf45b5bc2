"""Addresses of databases are shown without their passwords, however somebody has written them."""

from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from server.store.address import clear, shown

MARK = "\N{LOCK}"  # nothing else in an address has one

# What people choose, and what they forget to quote.
passwords = st.text(st.sampled_from("a1:/@?&=#%[], +\\\n"), max_size=8).map(lambda text: MARK + text + MARK)
parameters = st.sampled_from(["user=ann", "sslmode=require", "host=%2Frun", "a", ""])


@pytest.mark.parametrize(
    "address",
    [
        "",
        "postgresql://",
        "postgresql://ann@host/name",
        "postgres://ann@host:5432,[::1]:5433,other/name?sslmode=require&passfile=/home/ann/.pgpass",
        "postgresql:///name?host=%2Frun%2Fpostgresql&user=ann%40host",
        "friday.sqlite",
    ],
)
def test_without_a_password_an_address_is_shown_as_it_is(address: str) -> None:
    assert shown(address) == address
    assert clear(address)


@pytest.mark.parametrize(
    ("address", "without"),
    [
        ("postgresql://ann:secret@host/name", "postgresql://ann:…@host/name"),
        ("postgresql://:secret@/name", "postgresql://:…@/name"),
        ("postgresql://ann:se:cr?et@[::1]:5432/name", "postgresql://ann:…@[::1]:5432/name"),
        (
            "postgresql:///name?sslmode=require&password=secret",
            "postgresql:///name?sslmode=require&password=…",
        ),
        ("postgresql://host?password=se=cret&user=ann", "postgresql://host?password=…&user=ann"),
        ("postgresql://host/name?password=se&cret&user=ann", "postgresql://host/name?password=…&…&user=ann"),
        ("postgresql://host/name?p%61ssword=secret", "postgresql://host/name?p%61ssword=…"),
        (
            "postgresql://host/name?sslpassword=a&Password=b",
            "postgresql://host/name?sslpassword=…&Password=…",
        ),
        ("mysql://root:secret@host/name", "mysql://root:…@host/name"),
    ],
)
def test_a_password_is_hidden_and_nothing_else(address: str, without: str) -> None:
    assert shown(address) == without
    assert clear(address)


@pytest.mark.parametrize(
    ("address", "without"),
    [
        ("postgresql://ann:se@cret@host/name", "postgresql://…"),
        ("postgresql://ann:12/cret@host/name", "postgresql://…"),
        ("postgresql://ann:secret/name", "postgresql://…"),  # the host was forgotten
        ("host=there password=secret", "…"),
        ("host=there password=a://b", "…"),
    ],
)
def test_where_a_password_may_be_anywhere_everything_is_hidden(address: str, without: str) -> None:
    assert shown(address) == without
    assert not clear(address)


@given(passwords, st.lists(parameters), st.lists(parameters))
def test_no_password_is_shown(password: str, before: list[str], after: list[str]) -> None:
    quoted = quote(password, safe="")
    query = "&".join([*before, f"password={quoted}", *after])
    for address in (
        f"postgresql://ann:{quoted}@host/name?{'&'.join(after)}",
        f"postgresql://host/name?{query}",
    ):
        assert clear(address)
        assert quoted not in shown(address)


@given(passwords)
def test_no_part_of_a_password_is_shown_that_was_not_quoted_before_the_host(password: str) -> None:
    assert MARK not in shown(f"postgresql://ann:{password}@host/name")


@given(passwords)
def test_no_part_of_a_password_is_shown_that_was_not_quoted_in_the_query(password: str) -> None:
    assume("&" not in password)
    assert MARK not in shown(f"postgresql://host/name?password={password}&sslmode=require")

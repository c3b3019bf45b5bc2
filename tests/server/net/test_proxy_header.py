"""The PROXY protocol: what is read of a header, and what is none."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.net.proxy_header import FIRST, LINE, MOST, SECOND, BadHeader, Header, header, may_begin

V4, V6 = st.ip_addresses(v=4), st.ip_addresses(v=6)
Address = IPv4Address | IPv6Address


def line(source: Address) -> bytes:
    there = "192.0.2.1" if source.version == 4 else "2001:db8::1"
    return f"PROXY TCP{source.version} {source} {there} 56324 8000\r\n".encode()


def binary(source: Address, extra: bytes = b"") -> bytes:
    kind = b"\x21\x11" if source.version == 4 else b"\x21\x21"
    ports = (56324).to_bytes(2) + (8000).to_bytes(2)
    addresses = source.packed + bytes(len(source.packed)) + ports + extra
    return SECOND + kind + len(addresses).to_bytes(2) + addresses


@given(st.one_of(V4, V6), st.sampled_from([line, binary]), st.binary())
def test_whoever_a_header_names_is_read_and_what_follows_is_left(
    source: Address, written: object, more: bytes
) -> None:
    assert callable(written)
    said = written(source)
    plain = source.ipv4_mapped or source if isinstance(source, IPv6Address) else source
    assert header(said + more) == Header(str(plain), len(said))


@given(V4, st.sampled_from([line, binary]))
def test_whoever_came_to_the_proxy_through_an_ipv6_socket_has_the_same_address(
    source: IPv4Address, written: object
) -> None:
    """Catches clients from all over the world that were counted as one network, and limited together."""
    assert callable(written)
    said = written(IPv6Address(f"::ffff:{source}"))
    assert header(said) == Header(str(source), len(said))


@given(st.one_of(V4, V6), st.sampled_from([line, binary]), st.data())
def test_a_header_that_is_not_complete_may_become_one(
    source: Address, written: object, data: st.DataObject
) -> None:
    assert callable(written)
    said: bytes = written(source)
    begun = said[: data.draw(st.integers(0, len(said) - 1))]
    assert may_begin(begun)
    assert header(begun) is None


@given(st.binary())
def test_nothing_else_is_taken_for_a_header(said: bytes) -> None:
    if not said.startswith((FIRST, SECOND)):
        assert header(said) is None
        assert may_begin(said) == (FIRST.startswith(said) or SECOND.startswith(said))


@given(st.binary(max_size=300), st.sampled_from([FIRST, SECOND, FIRST + b"TCP4 ", SECOND + b"\x21\x11\x00"]))
def test_whatever_follows_its_beginning_is_a_header_or_waited_for_or_said_to_be_bad(
    said: bytes, begun: bytes
) -> None:
    try:
        found = header(begun + said)
    except BadHeader:
        return
    assert found is None or found.length <= len(begun + said)


@pytest.mark.parametrize(
    "said",
    [
        b"PROXY UNKNOWN\r\n",
        b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n",
        SECOND + b"\x20\x00\x00\x00",
        SECOND + b"\x20\x11\x00\x0c" + bytes(12),
        SECOND + b"\x21\x00\x00\x00",
        SECOND + b"\x21\x31\x00\xd8" + bytes(216),
    ],
)
def test_a_proxy_may_speak_for_itself_or_for_nobody_it_knows(said: bytes) -> None:
    assert header(said) == Header("", len(said))


def test_what_a_proxy_adds_is_passed_over() -> None:
    said = binary(IPv4Address("203.0.113.9"), b"\x04\x00\x03abc")
    assert header(said + b"Ann\n") == Header("203.0.113.9", len(said))


@pytest.mark.parametrize(
    "said",
    [
        b"PROXY ann\r\n",
        b"PROXY TCP4 2001:db8::1 192.0.2.1 1 2\r\n",
        b"PROXY TCP6 203.0.113.9 192.0.2.1 1 2\r\n",
        b"PROXY TCP4 999.0.0.1 192.0.2.1 1 2\r\n",
        b"PROXY TCP4 203.0.113.9 2001:db8::1 1 2\r\n",
        b"PROXY TCP4 203.0.113.9 192.0.2.999 1 2\r\n",
        b"PROXY TCP4 203.0.113.9 192.0.2.1 65536 2\r\n",
        b"PROXY TCP4 203.0.113.9 192.0.2.1 1 99999\r\n",
        b"PROXY TCP4 203.0.113.9 192.0.2.1 01 2\r\n",
        b"PROXY TCP4 203.0.113.9 192.0.2.1 1 2\n",
        b"PROXY TCP4 203.0.113.9  192.0.2.1 1 2\r\n",
        b"PROXY " + b"x" * LINE,
        SECOND + b"\x31\x11\x00\x0c" + bytes(12),
        SECOND + b"\x22\x11\x00\x0c" + bytes(12),
        SECOND + b"\x21\x99\x00\x0c" + bytes(12),
        SECOND + b"\x21\x11\x00\x04" + bytes(4),
        SECOND + b"\x21\x11" + (MOST + 1).to_bytes(2),
    ],
)
def test_a_malformed_header_is_said_to_be_one(said: bytes) -> None:
    with pytest.raises(BadHeader, match="expected"):
        header(said)

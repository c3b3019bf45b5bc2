"""Which addresses that strangers give may be called."""

import ipaddress
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.net.addresses import LOOPBACK, OWN, BadUrl, Url, allowed, callable_networks, taken_apart

EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))

# Whatever an organiser lists, short of the network itself, none of these is called.
NOBODYS = """
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.1.2.3
    127.255.255.255 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170
    192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.255.255 192.175.48.1
    198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
    255.255.255.255 :: ::1 ::2 ::7f00:1 ::127.0.0.1 ::ffff:0.0.0.0 ::ffff:10.0.0.1 ::ffff:127.0.0.1
    ::ffff:169.254.169.254 ::ffff:224.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1
    64:ff9b::169.254.169.254 64:ff9b::224.0.0.1 64:ff9b:1::1 64:ff9b:1:7f00:0:100:: 100::1
    100:0:0:1::1 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::
    2002:a00:1:: 2002:5db8:d822:: 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 fc00::1
    fd00::1 fdff:ffff::1 fe00::1 fe80::1 fe80::1%1 febf::1 fec0::1 feff::1 ff00::1 ff02::1 ff0e::1
    ffff::1
"""
EVERYBODYS = """
    1.1.1.1 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255
    128.0.0.0 169.253.255.255 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 198.17.255.255
    198.20.0.0 223.255.255.255 ::ffff:93.184.216.34 64:ff9b::93.184.216.34 2001:200::1
    2001:4860:4860::8888 2600::1 2a00:1450::1 3ffe::1
"""

addresses = st.one_of(
    st.ip_addresses(v=4), st.ip_addresses(v=6), st.sampled_from(NOBODYS.split()).map(ip_address)
)


@pytest.mark.parametrize("address", NOBODYS.split())
def test_to_list_everything_is_not_to_list_this(address: str) -> None:
    assert not allowed(ip_address(address), EVERYTHING)


@pytest.mark.parametrize("address", EVERYBODYS.split())
def test_everybodys_addresses_are_called_where_they_are_listed(address: str) -> None:
    assert allowed(ip_address(address), EVERYTHING)
    assert not allowed(ip_address(address), [ip_network("192.0.1.128/25"), ip_network("2a01::/16")])


@given(addresses)
def test_nothing_is_called_where_nothing_is_listed(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    assert not allowed(address, ())


@given(addresses)
def test_what_is_called_is_at_least_what_python_takes_for_everybodys(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if allowed(address, EVERYTHING):
        mapped = getattr(address, "ipv4_mapped", None)
        assert (mapped or address).is_global
        assert not address.is_multicast
        assert not address.is_loopback
        assert not address.is_link_local


@pytest.mark.parametrize("own", OWN, ids=str)
def test_somebodys_own_network_is_called_where_it_is_meant(own: ipaddress.IPv4Network) -> None:
    first, last = own.network_address, own.broadcast_address
    assert allowed(first, [own])
    assert allowed(last, [own])
    if own.num_addresses > 1:
        half, other = own.subnets()
        assert allowed(first, [half])
        assert not allowed(last, [half])
        assert not allowed(first, [own.supernet()]), "which is not only its own"
        assert not allowed(first, [other])


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "224.0.0.1", "0.1.2.3", "fe80::1", "ff02::1", "fec0::1"]
)
def test_some_are_not_called_even_where_they_are_meant(address: str) -> None:
    meant = ip_network((address, 32 if "." in address else 128))
    assert not allowed(ip_address(address), [meant])


def test_an_address_within_another_counts_as_itself() -> None:
    assert allowed(ip_address("::ffff:10.1.2.3"), [ip_network("10.1.0.0/16")])
    assert allowed(ip_address("::ffff:127.0.0.1"), LOOPBACK)
    assert not allowed(ip_address("64:ff9b::10.1.2.3"), [ip_network("10.1.0.0/16")]), "of another's network"
    assert not allowed(ip_address("64:ff9b::127.0.0.1"), LOOPBACK)


@pytest.mark.parametrize(
    ("listed", "bind", "networks"),
    [
        ((), "127.0.0.1", LOOPBACK),
        ((), "127.8.8.8", LOOPBACK),
        ((), "::1", LOOPBACK),
        ((), "localhost", LOOPBACK),
        ((), "0.0.0.0", ()),  # noqa: S104
        ((), "::", ()),
        ((), "192.168.1.1", ()),
        ((), "arena.example", ()),
        (("10.1.0.0/16",), "127.0.0.1", (ip_network("10.1.0.0/16"),)),
        (("10.1.0.0/16", "::1/128"), "0.0.0.0", (ip_network("10.1.0.0/16"), ip_network("::1/128"))),  # noqa: S104
    ],
)
def test_nobody_is_called_but_whom_the_organiser_lists_and_else_oneself(
    listed: tuple[str, ...], bind: str, networks: tuple[ipaddress.IPv4Network, ...]
) -> None:
    assert callable_networks(listed, bind) == networks


@pytest.mark.parametrize("listed", ["10.1.0.0/33", "10.1.2.3/16", "everybody", ""])
def test_what_is_no_network_is_refused(listed: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        callable_networks([listed], "127.0.0.1")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://bots.example", Url(False, "bots.example", 80, "/")),
        ("https://bots.example", Url(True, "bots.example", 443, "/")),
        ("http://Bots.Example:8080/a/b", Url(False, "bots.example", 8080, "/a/b")),
        ("https://bots.example:443/?a=b&c=d?e", Url(True, "bots.example", 443, "/?a=b&c=d?e")),
        ("http://bots.example?run=1", Url(False, "bots.example", 80, "/?run=1")),
        ("http://127.0.0.1:5000/", Url(False, "127.0.0.1", 5000, "/")),
        ("http://[::1]:5000/x", Url(False, "::1", 5000, "/x")),
        ("http://[2001:DB8::1]/", Url(False, "2001:db8::1", 80, "/")),
        ("http://bots.example/@me:you", Url(False, "bots.example", 80, "/@me:you")),
        ("http://xn--bcher-kva.example/%20", Url(False, "xn--bcher-kva.example", 80, "/%20")),
    ],
)
def test_an_address_is_taken_apart(text: str, url: Url) -> None:
    assert taken_apart(text) == url


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://bots.example/x", "bots.example"),
        ("http://bots.example:80", "bots.example"),
        ("http://bots.example:443", "bots.example:443"),
        ("https://bots.example:443", "bots.example"),
        ("https://[::1]:5000", "[::1]:5000"),
    ],
)
def test_the_server_is_named_as_in_the_address(url: str, authority: str) -> None:
    assert taken_apart(url).authority == authority


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bots.example",
        "//bots.example",
        "ftp://bots.example",
        "HTTP://bots.example",
        "http:/bots.example",
        "http:///path",
        "http://",
        "http://me@bots.example",
        "http://me:secret@bots.example",
        "http://bots.example@127.0.0.1",
        "http://127.0.0.1\\@bots.example",
        "http://bots.example\\x",
        "http://bots.example/#here",
        "http://bots.example#@127.0.0.1",
        "http://bots.example/a b",
        "http://bots.example/\r\nHost: other",
        "http://bots.example/\t",
        "http://bots.example/\x00",
        " http://bots.example",
        "http://bots.example ",
        "http://bots.example\n",
        "http://bücher.example",
        "http://①②⑦.0.0.1",
        "http://127。0。0。1",
        "http://127.0.0.1%00.bots.example",
        "http://[::1",
        "http://::1/",
        "http://[fe80::1%25eth0]/",
        "http://[bots.example]/",
        "http://bots.example:",
        "http://bots.example:+80",
        "http://bots.example:8o80",
        "http://bots.example:٨٠٨٠",
        "http://bots.example:123456",
        "http://a,b.example/",
        "http://bots.example/" + "x" * 1000,
    ],
)
def test_what_is_no_plain_address_is_refused(text: str) -> None:
    with pytest.raises(BadUrl, match="an address to call"):
        taken_apart(text)


@pytest.mark.parametrize(
    "port", [0, 1, 22, 25, 81, 442, 1023, 2375, 3306, 5432, 6000, 6379, 6667, 11211, 65536, 99999]
)
def test_ports_of_other_services_are_not_called(port: int) -> None:
    with pytest.raises(BadUrl, match=f"port {port} is not called"):
        taken_apart(f"http://bots.example:{port}/")


@pytest.mark.parametrize("port", [80, 443, 1024, 3000, 5000, 8000, 8080, 65535])
def test_ports_of_bots_are_called(port: int) -> None:
    assert taken_apart(f"http://bots.example:{port}/").port == port

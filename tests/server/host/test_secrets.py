"""What is made to be unguessable looks as it should, and nothing is given out twice."""

import re
from base64 import urlsafe_b64decode
from hashlib import sha256
from uuid import RFC_4122, UUID

from server.host.secrets import DRAWN, TAKEN, token, token_digest, uuid

MANY = 3 * DRAWN // TAKEN  # several draws of the pool


def test_a_token_is_128_bits_that_may_stand_in_an_address() -> None:
    for made in (token() for _ in range(MANY)):
        assert re.fullmatch(r"[A-Za-z0-9_-]{22}", made)
        assert len(urlsafe_b64decode(made + "==")) == 16


def test_a_uuid_is_one_of_version_4_as_it_is_written() -> None:
    for made in (uuid() for _ in range(MANY)):
        parsed = UUID(made)
        assert str(parsed) == made
        assert (parsed.version, parsed.variant) == (4, RFC_4122)


def test_none_is_given_out_twice_and_every_bit_that_is_free_changes() -> None:
    tokens = [token() for _ in range(MANY)]
    assert len(set(tokens)) == MANY
    uuids = [UUID(uuid()).int for _ in range(MANY)]
    assert len(set(uuids)) == MANY
    changing = 0
    for each in uuids:
        changing |= each ^ uuids[0]
    assert changing.bit_count() == 122


def test_a_token_is_known_by_its_digest() -> None:
    assert token_digest(b"one") != token_digest(b"two")
    assert token_digest("one") == token_digest(b"one") == sha256(b"one").digest(), "journals have these"
    assert token_digest("\ud800") != token_digest("?"), "whatever a bot brings along is a token"

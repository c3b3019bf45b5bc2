"""How sessions are spoilt: in their bytes, in their words and in their order."""

import re
from collections.abc import Callable, Sequence
from random import Random

from msgspec.structs import replace

from tests.fuzz.sessions import Edit, Leave, Say, Step, Tongue, Wait, draw

LONG = (600, 5000, 20_000, 70_000)  # bytes: beyond a line, a message, a request, a frame
SILENCES = (0.01, 0.3, 2.1, 5.1, 10.1, 30.1, 76.0)  # seconds: just beyond each deadline that there is
STEPS = 60  # in a session, at most

VALUES = re.compile(rb'"[^"]*"|\$[a-z]+\$|-?[0-9]+|null|true|false')  # of JSON, more or less

ODD_VALUES = (
    *(b"-1", b"0", b"1.0", b"7", b"-0", b"1e999", b"-1e999", b"1e-999", b"NaN", b"Infinity", b"0x1", b"+1"),
    *(b"2147483648", b"18446744073709551616", b"9" * 400, b"9" * 4301, b"0.%b1" % (b"0" * 400)),
    *(b"null", b"true", b"[]", b"{}", b'""', b'" "', b"[[]]", b'[{"row":0,"col":0}]', b'{"":[]}'),
    *(b'"\\ud800"', b'"\\u0000"', b'"\\u202e"', b'"\\n"', b'"\xed\xa0\x80"', b'"\xff"', b'"\xc0\xaf"'),
    *(b'"1"', b'"1_0"', b'"\xd9\xa3"', b'"\xef\xbc\x91"', b'"Draw"', b'"random"', b'"$rival$"', b'"$name$"'),
    *(b"[" * 3000, b'{"a":' * 700, b"[" * 900 + b"]" * 900, b'"%b"' % (b"x" * 3900), b'"%b"' % (b"x" * 33)),
    *(b"[" + b"0," * 1500 + b"0]", b'{"action":"\\ud800"}', b'{"action":"putSymbol","position":"\\ud800"}'),
    *(b"$move$", b"$short$", b"$token$", b"$match$", b"$battleid$", b"$session$"),
)
ODD_BYTES = (
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x0b"),
    *(
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\x1b[2J",
        b"\x7f",
        b" ",
        b"\t",
        b'"',
        b"{",
        b"}",
        b"[",
        b"\\",
        b"%",
        b"$",
    ),
    *(
        b"\x81\xfe",
        b"\x88\x80",
        b"\x89\x80",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1",
    ),
    *(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"SSH-2.0-x\r\n", b"Content-Length: 5\r\n", b"0\r\n\r\n", b"../"),
)

Steps = list[Step]


def spoilt(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """The session with a few things wrong in it; one in eight is left as it is."""
    if random.randrange(8):
        for _ in range(random.choice((1, 1, 2, 3))):
            steps = random.choice(WAYS)(steps, tongues, random)
    return steps[:STEPS]


# Ways to spoil a session. None of them changes the list it is given.


def _bytes(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """Other bytes on the wire."""
    return _with_one(steps, random, lambda say: replace(say, edits=say.edits + _edits(random)))


def _words(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """Another value in a message, which is framed as it should be."""
    return _with_one(steps, random, lambda say: replace(say, text=_reworded(say.text, random)))


def _pieces(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """The same bytes in other pieces."""
    return [
        replace(step, cuts=_places(random, random.randint(1, 4))) if isinstance(step, Say) else step
        for step in steps
    ]


def _truncated(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """Half of a message, and then the end, or nothing."""
    after: Step = random.choice((Leave("finish"), Leave("close"), Leave("reset"), Wait(_silence(random))))
    place = random.randrange(len(steps) + 1)
    half = _with_one(
        steps[:place], random, lambda say: replace(say, edits=((random.randrange(300), 1 << 20, b""),))
    )
    return [*half, after, *steps[place:]]


def _padded(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """A message that does not end."""
    padding = random.choice((b"x", b" ", b"0", b"[", b"\xff", b"\r\n", b"a: b\r\n")) * random.choice(LONG)
    padding = padding[: LONG[-1]]
    return _with_one(steps, random, lambda say: replace(say, edits=((random.randrange(300), 0, padding),)))


def _flood(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """The same message over and over."""
    times = random.choice((2, 3, 20, 60, 150))
    return _with_one(steps, random, lambda say: replace(say, times=times))


def _shuffled(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """Steps twice, left out or in another order."""
    steps = list(steps)
    place = random.randrange(len(steps))
    match random.randrange(3):
        case 0:
            steps.insert(random.randrange(len(steps) + 1), steps[place])
        case 1:
            del steps[place]
        case _:
            steps.insert(random.randrange(len(steps)), steps.pop(place))
    return steps or [Wait(1.0)]


def _spliced(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """Begun in one protocol and gone on with in another."""
    other = draw(tongues, random)
    return [*steps[: random.randint(1, len(steps))], *other[random.randrange(len(other)) :]]


def _silent(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    place = random.randrange(len(steps) + 1)
    return [*steps[:place], Wait(_silence(random)), *steps[place:]]


def _left(steps: Steps, tongues: Sequence[Tongue], random: Random) -> Steps:
    """Ended early, and not always stopped at that."""
    place = random.randrange(len(steps) + 1)
    leave = Leave(random.choice(("finish", "finish", "close", "reset")), random.choice((0, 0, 1)))
    return [*steps[:place], leave, *steps[place:]]


WAYS = (
    *(_bytes, _bytes, _words, _words, _words, _pieces, _truncated, _padded),
    *(_flood, _shuffled, _shuffled, _spliced, _silent, _left),
)


def _with_one(steps: Steps, random: Random, change: Callable[[Say], Say]) -> Steps:
    """With one of its messages changed, if there is one."""
    said = [place for place, step in enumerate(steps) if isinstance(step, Say)]
    if not said:
        return steps
    place = random.choice(said)
    step = steps[place]
    assert isinstance(step, Say)
    return [*steps[:place], change(step), *steps[place + 1 :]]


def _edits(random: Random) -> tuple[Edit, ...]:
    return tuple(_edit(random) for _ in range(random.choice((1, 1, 2, 4))))


def _edit(random: Random) -> Edit:
    added = random.choice((b"", random.randbytes(random.randint(1, 3)), random.choice(ODD_BYTES)))
    return random.randrange(500), random.randrange(4), added


def _reworded(text: bytes, random: Random) -> bytes:
    """With another value in the place of one, as far as it looks like JSON; else with one somewhere."""
    found = list(VALUES.finditer(text))
    odd = random.choice(ODD_VALUES) if random.randrange(20) else _nested(random)
    if not found or not random.randrange(6):
        place = random.randrange(len(text) + 1)
        return text[:place] + odd + text[place:]
    value = random.choice(found)
    return text[: value.start()] + odd + text[value.end() :]


def _nested(random: Random) -> bytes:
    """About as deep as can be read: what is done with it afterwards may not go as deep."""
    depth = random.randrange(900, 1000)
    return b"[" * depth + b"]" * depth


def _places(random: Random, count: int) -> tuple[int, ...]:
    return tuple(random.randrange(1 << 16) for _ in range(count))


def _silence(random: Random) -> float:
    return random.choice(SILENCES)

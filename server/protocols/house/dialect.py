"""The house protocol as a dialect: any game, over all three ports."""

from msgspec.structs import replace

from server.net.frames import NORMAL
from server.protocols.dialect import Channel, Dialect, OverHttp, OverTcp, OverWebsocket
from server.protocols.house.sessions import HouseHttp
from server.protocols.house.talk import DOOR, HouseTalk, wanted


def _lines(channel: Channel) -> Channel:
    """A channel on which a message, which is a JSON object, is a line, as over TCP."""
    put = channel.say

    def say(message: bytes, urgent: bool = True) -> None:
        put(message + b"\n", urgent)

    return replace(channel, say=say)


DIALECT = Dialect(
    name=DOOR,
    title="the house protocol",
    carried_by=(
        OverTcp(
            speak=lambda channel: HouseTalk(_lines(channel)),
            goes_on=lambda channel, words: HouseTalk.going_on(_lines(channel), words),
            recognises=lambda line: line.lstrip()[:1] == b"{",
            wanted=wanted,
        ),
        OverWebsocket(
            speak=HouseTalk,
            goes_on=HouseTalk.going_on,
            path="/play",
            code=NORMAL,
            at_once=True,
            wanted=wanted,
        ),
        OverHttp(serve=lambda host, settings: HouseHttp(host)),
    ),
)

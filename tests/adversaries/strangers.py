"""The league: who attacks how, how many do so at once, and by how much the host may grow by it."""

from collections.abc import Mapping

from msgspec import Struct

from tests.adversaries import crowds, impostors, readers, visitors
from tests.adversaries.crowds import Act

SOME = 64  # MiB: half of that is libraries that are loaded once
CHURN = 128  # MiB, where thousands come and go in a second: what they leave is freed some time later
MORE = 160  # MiB, where each of a hundred peers that do not read may have a MiB kept for it
MOST = 256  # MiB, where all kinds of big answers are made at once, as many as there are threads


class Stranger(Struct, frozen=True):
    act: Act  # one go, which is repeated
    doing: str
    at_once: int
    growth: int = SOME  # MiB at most, in play or in show


LEAGUE: Mapping[str, Stranger] = {
    "names": Stranger(visitors.names, "throws names away as fast as it can", 20),
    "standings": Stranger(readers.standings, "reloads the standings of big tables", 8, MORE),
    "deaf": Stranger(readers.deaf, "subscribes to everything and reads nothing", 30, MORE),
    "pages": Stranger(readers.pages, "has a hundred pages open", 100, MORE),
    "slow": Stranger(crowds.slow, "sends requests byte by byte", 8),
    "pipelines": Stranger(readers.pipelines, "sends requests without waiting for answers", 8),
    "idle": Stranger(crowds.idle, "opens connections and says nothing", 200),
    "frames": Stranger(crowds.frames, "floods websockets with fragments and pings", 4),
    "junk": Stranger(crowds.junk, "sends junk, JSON bombs and lines without an end", 4),
    "resets": Stranger(crowds.half_closed, "hangs up halfway, at any byte", 2),
    "ghosts": Stranger(visitors.ghosts, "joins open tables and never moves", 5),
    "sleepers": Stranger(visitors.sleepers, "joins over HTTP and never asks again", 5),
    "polite": Stranger(visitors.polite, "joins, is dealt a match, and leaves", 5),
    "evaluations": Stranger(visitors.evaluations, "has bots evaluated that never play", 1),
    "squatters": Stranger(impostors.squatters, "comes under honest bots' names", 4),
    "look-alikes": Stranger(impostors.look_alikes, "comes under names that look like theirs", 2),
    "guessers": Stranger(impostors.guessers, "guesses tokens", 4),
    "callers": Stranger(impostors.callers, "has the host call its neighbours", 2),
    "foreign-pages": Stranger(impostors.foreign_pages, "is a page of another site", 2),
    "downloads": Stranger(readers.downloads, "downloads exports and lists", 8, MORE),
    "unread": Stranger(readers.unread, "asks for several tables and reads none", 30, MORE),
    "leavers": Stranger(readers.leavers, "asks for tables and hangs up", 20, MOST),
    "comers": Stranger(readers.comers, "comes to a stream and leaves, again and again", 20, CHURN),
    "makers": Stranger(visitors.makers, "makes games that nobody plays", 8),
}

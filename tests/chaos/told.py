"""Everything that bots and the API were told, and whether the record that is left says the same."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from tournament.events import CUT_SHORT

End = tuple[int | None, str, str]  # winner, ending, why
HONEST = ("open-tic-tac-toe", "open-hexagon-dots")  # where nobody plays who breaks a rule or thinks for long
SHOWN = 30  # complaints of a kind that are printed


class Verdict(Struct):
    matches: int = 0  # in the record, over and not void
    void: int = 0
    cut_short: set[str] = set()  # matches that are void because the host stopped
    told: int = 0  # matches whose end somebody was told of
    lost: list[str] = []
    doubled: list[str] = []
    changed: list[str] = []
    wrong: list[str] = []  # anything else

    def add(self, other: "Verdict") -> None:
        for field in self.__struct_fields__:
            both = getattr(self, field), getattr(other, field)
            setattr(self, field, both[0] | both[1] if field == "cut_short" else both[0] + both[1])

    @property
    def complaints(self) -> list[str]:
        return [
            f"{kind}: {each}"
            for kind in ("lost", "doubled", "changed", "wrong")
            for each in getattr(self, kind)[:SHOWN]
        ]


class Told:
    """What was heard, from several sides and over all lives of a host."""

    def __init__(self) -> None:
        self.verdict = Verdict()
        self._ends: dict[str, End] = {}
        self._moves: dict[str, list[Any]] = {}
        self._counts: dict[tuple[str, str], Counter[str]] = {}  # wins, draws and losses that standings showed

    @property
    def ends(self) -> Mapping[str, End]:
        """The matches whose end somebody was told of, by name."""
        return self._ends

    def end(self, match: str, winner: int | None, ending: str, why: str, moves: list[Any] | None) -> None:
        """Somebody heard that a match is over; who followed it from its beginning has its moves."""
        told = (winner, ending, why)
        before = self._ends.setdefault(match, told)
        if before != told:
            self.verdict.changed.append(f"{match} was told as {before}, and then as {told}")
        if moves is not None and self._moves.setdefault(match, moves) != moves:
            self.verdict.changed.append(f"{match} was told with other moves before")

    def standings(self, tournament: str, rows: Iterable[dict[str, Any]]) -> None:
        """In a tournament that nobody withdraws from, nobody's wins or losses ever become fewer."""
        for row in rows:
            counts = Counter({kind: row[kind] for kind in ("wins", "draws", "losses")})
            self._counts[tournament, row["name"]] = (
                self._counts.get((tournament, row["name"]), counts) | counts
            )

    def compare(self, lines: Iterable[dict[str, Any]]) -> Verdict:
        """With the record, as it is exported."""
        verdict, seen = self.verdict, set[str]()
        verdict.told = len(self._ends)
        counting = Counter[tuple[str, int]]()
        standings: dict[tuple[str, str], dict[str, Any]] = {}
        for line in lines:
            if line["type"] == "standings":
                standings |= {(line["tournament"], row["name"]): row for row in line["rows"]}
            if line["type"] != "match":
                continue
            name = line["match"]
            if name in seen:
                verdict.doubled.append(f"{name} is in the record twice")
            seen.add(name)
            if line["ending"] == "void":
                verdict.void += 1
                if line["why"].startswith(CUT_SHORT):
                    verdict.cut_short.add(name)
            else:
                verdict.matches += 1
                counting[line["tournament"], line["pairing"]] += 1
            if line["tournament"] in HONEST and line["ending"] not in ("played", "void"):
                verdict.wrong.append(f"{name} was lost by a bot that plays by the rules: {line['why']}")
            kept = (line["winner"], line["ending"], line["why"])
            if (told := self._ends.get(name, kept)) != kept:
                verdict.changed.append(f"{name} was told as {told}, and is kept as {kept}")
            if (moves := self._moves.get(name)) is not None and moves != line["moves"]:
                verdict.changed.append(f"{name} was played as {moves}, and is kept as {line['moves']}")
        verdict.lost += (f"{name} was told as {end}" for name, end in self._ends.items() if name not in seen)
        verdict.doubled += (f"pairing {pairing} counts {n} times" for pairing, n in counting.items() if n > 1)
        for key, counts in self._counts.items():
            now = Counter({kind: standings.get(key, {}).get(kind, 0) for kind in counts})
            if now | counts != now:
                verdict.lost.append(f"the standings showed {key} with {dict(counts)}, and are {dict(now)}")
        return verdict

"""How long each move of a match took, and what was left on the clocks, as a picture.

Bars for seat 0 go up from the middle and those for seat 1 go down, move by move. If there is a bank of
time for the whole match, a line for each seat shows what it had left. A picture has the same few
elements however long the match is.
"""

from collections.abc import Iterator, Sequence
from math import ceil

from markupsafe import Markup

from games.game import Pace
from games.svg import element, number
from server.pages import formatting
from server.pages.story import Ply, Story

WIDTH, MIDDLE, REACH = 480, 62, 46  # the picture's width, its axis, and the length of the longest bar
LEFT, RIGHT = 48, 476  # of the bars
ABOVE, BELOW = 146, 206  # the lines of the clocks are between these
BARS = 400  # at most: in a longer match, each bar stands for the longest of several moves


def clock_graph(story: Story, pace: Pace) -> Markup:
    """The picture, or nothing before the first move."""
    if not (plies := story.plies):
        return Markup()
    most = max(max(ply.spent for ply in plies), 0.001)
    parts = [element("title", str(Markup.escape(_words(story)))), *_axis(most, len(plies))]
    parts += (element("path", d=_bars(plies, seat, most), class_=f"graph-seat-{seat}") for seat in (0, 1))
    height = 2 * MIDDLE + 10
    if pace.bank is not None:
        height = BELOW + 8
        parts += _clocks(plies, pace, pace.bank)
    parts.append(element("path", d=f"M{LEFT} 4V{2 * MIDDLE - 8}", class_="graph-cursor", data_cursor=""))
    drawn = element(
        "svg", "".join(parts), class_="graph", viewBox=f"0 0 {WIDTH} {height}", role="img",
        data_plies=len(plies), data_left=LEFT, data_right=RIGHT,
    )  # fmt: skip
    return Markup(drawn)  # noqa: S704 - figures, and names that are escaped


def _words(story: Story) -> str:
    """The picture in words, for those who cannot see it; every figure is in the list of moves, too."""
    said: list[str] = []
    for seat, name in enumerate(story.players):
        own = [ply for ply in story.plies if ply.seat == seat]
        if own:
            longest = max(own, key=lambda ply: ply.spent)
            total, most = formatting.seconds(sum(ply.spent for ply in own)), formatting.seconds(longest.spent)
            said.append(f"{name} {total} in all, {most} at most, for move {longest.number}")
    return f"Time spent on each move: {'; '.join(said)}"


def _axis(most: float, plies: int) -> Iterator[str]:
    longest = formatting.seconds(most)
    for y, label in ((MIDDLE - REACH, longest), (MIDDLE, "0"), (MIDDLE + REACH, longest)):
        yield from _level(y, label)
    for at, anchor, label in ((LEFT, "start", "move 1"), (RIGHT, "end", f"move {plies}"))[:plies]:
        yield element("text", label, x=at, y=2 * MIDDLE + 6, text_anchor=anchor, class_="curve-text")


def _level(y: int, label: str) -> Iterator[str]:
    """A line across the picture, and what it stands for."""
    yield element("path", d=f"M{LEFT} {y}H{RIGHT}", class_="graph-grid")
    yield element("text", label, x=LEFT - 6, y=y + 4, text_anchor="end", class_="curve-text")


def _bars(plies: Sequence[Ply], seat: int, most: float) -> str:
    """One path of upright strokes."""
    together = ceil(len(plies) / BARS)
    wide = (RIGHT - LEFT) / ceil(len(plies) / together)
    strokes: list[str] = []
    for place in range(0, len(plies), together):
        spent = max((ply.spent for ply in plies[place : place + together] if ply.seat == seat), default=0.0)
        if spent > 0:
            length = max(1.0, REACH * spent / most) * (1 if seat else -1)
            x, thick = LEFT + wide * place / together, max(0.8, wide * 0.8)
            strokes.append(f"M{number(x)} {MIDDLE}v{number(length)}h{number(thick)}V{MIDDLE}z")
    return "".join(strokes)


def _clocks(plies: Sequence[Ply], pace: Pace, bank: float) -> Iterator[str]:
    """What both had left after each move."""
    left = [[bank], [bank]]
    for ply in plies:
        for seat in (0, 1):
            gained = max(0.0, left[seat][-1] - ply.spent) + pace.gain if seat == ply.seat else left[seat][-1]
            left[seat].append(gained)
    top = max(bank, *map(max, left))
    for y, label in ((ABOVE, formatting.clock(top)), (BELOW, "0")):
        yield from _level(y, label)
    every = ceil(len(plies) / BARS)

    def across(ply: int) -> float:
        return LEFT + (RIGHT - LEFT) * ply / len(plies)

    def up(figure: float) -> float:
        return BELOW - (BELOW - ABOVE) * figure / top

    for seat, figures in enumerate(left):
        points = (f"{number(across(n))},{number(up(figures[n]))}" for n in range(0, len(figures), every))
        yield element("polyline", points=" ".join(points), class_=f"graph-line graph-line-{seat}")

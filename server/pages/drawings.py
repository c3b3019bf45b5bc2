"""Figures as pictures: an interval as a bar, a rating over time as a curve. Strings in, SVG out.

Colours come from the stylesheet by class, so that light, dark and paper have
their own. Nothing that a bot has said is in these pictures.
"""

from collections.abc import Sequence

from markupsafe import Markup
from msgspec import Struct

from games.svg import element, number

WIDTH, HEIGHT = 400, 150  # of a curve: its labels can be read on a phone, too
LEFT, BELOW, EDGE = 46, 22, 8  # of its frame
POINTS = 400  # of a curve: more than there are pixels between two of them
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class Scale(Struct, frozen=True):
    """Maps figures to places: those from `low` to `high` to places from 0 to 1."""

    low: float
    high: float

    def __call__(self, figure: float) -> float:
        return (figure - self.low) / (self.high - self.low)


def scale(figures: Sequence[float]) -> Scale:
    """A scale for all these figures, with a little room on both sides."""
    low, high = min(figures, default=0.0), max(figures, default=0.0)
    air = max((high - low) * 0.04, 1.0)
    return Scale(low - air, high + air)


def bar(interval: tuple[float, float], middle: float, on: Scale, words: str) -> Markup:
    """An interval with its middle and the place of 0, as wide as its column."""
    low, high, at, zero = (round(200 * on(figure), 1) for figure in (*interval, middle, 0.0))
    parts = [
        element("title", words),
        element("rect", x=0, y=8, width=200, height=1, class_="bar-ground"),
        element("rect", x=low, y=5, width=number(max(high - low, 1)), height=7, rx=3, class_="bar-span"),
        element("rect", x=number(at - 1.5), y=2, width=3, height=13, rx=1, class_="bar-middle"),
    ]
    if 0 <= zero <= 200:
        parts.insert(1, element("rect", x=zero, y=0, width=1, height=17, class_="bar-zero"))
    return _svg("bar", 200, 17, *parts)


def curve(middles: Sequence[float], spread: Sequence[float], words: str) -> Markup:
    """A rating after each match, in a band that reaches as far to both sides as its `spread`."""
    step = max(1, -(-len(middles) // POINTS))
    chosen = [*range(0, len(middles), step)]
    if chosen[-1] != len(middles) - 1:
        chosen.append(len(middles) - 1)
    lows, highs = ([middles[n] + side * spread[n] for n in chosen] for side in (-1, 1))
    on = scale([*lows, *highs])

    def x(match: int) -> float:
        return LEFT + (WIDTH - LEFT - EDGE) * (match / max(1, len(middles) - 1))

    def y(figure: float) -> float:
        return EDGE + (HEIGHT - BELOW - EDGE) * (1 - on(figure))

    def path(figures: Sequence[float], over: Sequence[int]) -> str:
        return " ".join(f"{x(n):.1f},{y(f):.1f}" for n, f in zip(over, figures, strict=True))

    parts = [element("title", words)]
    for tick in _ticks(on):
        parts.append(element("line", x1=LEFT, x2=WIDTH - EDGE, y1=y(tick), y2=y(tick), class_="curve-grid"))
        parts.append(
            element(
                "text",
                number(float(tick)).replace("-", "−"),
                x=LEFT - 8,
                y=y(tick) + 4,
                text_anchor="end",
                class_="curve-text",
            )
        )
    band = path(lows, chosen) + " " + path(highs[::-1], chosen[::-1])
    parts.append(element("polygon", points=band, class_="curve-band"))
    parts.append(element("polyline", points=path([middles[n] for n in chosen], chosen), class_="curve-line"))
    for at, anchor in ((0, "start"), (len(middles) - 1, "end")):
        label = "first match" if at == 0 else f"match {len(middles):,}"
        parts.append(element("text", label, x=x(at), y=HEIGHT - 4, text_anchor=anchor, class_="curve-text"))
    return _svg("curve", WIDTH, HEIGHT, *parts)


def _ticks(on: Scale) -> list[float]:
    """Round figures within a scale, some four of them."""
    step = next((each for each in STEPS if (on.high - on.low) / each <= 6), STEPS[-1])
    first = -(-on.low // step) * step
    return [first + n * step for n in range(8) if first + n * step <= on.high]


def _svg(kind: str, width: int, height: int, *parts: str) -> Markup:
    drawn = element(
        "svg",
        "".join(parts),
        class_=kind,
        viewBox=f"0 0 {width} {height}",
        role="img",
        preserveAspectRatio="none" if kind == "bar" else None,
    )
    return Markup(drawn)  # noqa: S704 - figures, and words of our own

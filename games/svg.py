"""Drawing: strings in, an SVG string out.

Colours are CSS variables with a fallback, written as presentation attributes:
a page gives them light and dark values, a strict content policy forbids
nothing in them, and a drawing saved to a file still has its colours.
"""

from html import escape

GROUND = "var(--board-ground, #f7f3ea)"  # what the board lies on
FIELD = "var(--board-field, #e9dfc8)"  # a place to play
GRID = "var(--board-grid, #b9a983)"  # lines between places, coordinates' ticks
INK = "var(--board-ink, #5b513c)"  # letters and numbers
SEATS = ("var(--board-first, #c8452f)", "var(--board-second, #2f6fb0)")
MARK = "var(--board-mark, #e0a100)"  # the last move

FONT = "system-ui, sans-serif"
TOUCH = {"rx": 4}  # of a rectangle that is clicked


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """`<name …>content</name>`; `stroke_width=2` writes `stroke-width="2"`, `class_` writes `class`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(x: float, y: float, words: str, size: float = 14, **attributes: object) -> str:
    """Words centred on (x, y)."""
    return element(
        "text",
        escape(words),
        **{"x": x, "y": y, "font_size": size, "font_family": FONT, "text_anchor": "middle"}
        | {"dominant_baseline": "central", "fill": INK}
        | attributes,
    )


def rect(x: float, y: float, width: float, height: float, fill: str, **attributes: object) -> str:
    return element("rect", x=x, y=y, width=width, height=height, fill=fill, **attributes)


def circle(x: float, y: float, radius: float, fill: str, **attributes: object) -> str:
    return element("circle", cx=x, cy=y, r=radius, fill=fill, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, width: float, **attributes: object) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width, **attributes)


def polygon(points: list[tuple[float, float]], fill: str, **attributes: object) -> str:
    corners = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return element("polygon", points=corners, fill=fill, **attributes)


def drawing(width: float, height: float, title: str, *parts: str) -> str:
    """A whole picture. The title is what a screen reader says and a pointer shows."""
    return element(
        "svg",
        element("title", escape(title)) + rect(0, 0, width, height, GROUND, rx=10) + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
    )


def number(value: object) -> str:
    """Floats without a tail of noise; everything else as it is."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)

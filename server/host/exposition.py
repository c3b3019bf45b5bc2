"""The text format in which Prometheus reads figures: values in, text out.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from server.host.histogram import Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


class Sample(Struct, frozen=True):
    value: float | Histogram
    labels: Labels = {}


class Family(Struct, frozen=True):
    """Samples of one name. A counter's name ends in `_total`; a name says the unit, which is a base unit."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    samples: tuple[Sample, ...]


def single(
    name: str, kind: Literal["counter", "gauge", "histogram"], help: str, value: float | Histogram
) -> Family:
    """A family of one sample without labels."""
    return Family(name, kind, help, (Sample(value),))


def exposition(families: Iterable[Family]) -> str:
    return "".join(f"{line}\n" for family in families for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    name = family.name
    yield f"# HELP {name} {family.help.replace(chr(92), chr(92) * 2)}"
    yield f"# TYPE {name} {family.kind}"
    for sample in family.samples:
        value, labels = sample.value, sample.labels
        if isinstance(value, Histogram):
            counts = value.up_to()
            for bound, count in zip((*map(str, value.bounds), "+Inf"), counts, strict=True):
                yield f"{name}_bucket{_labels({**labels, 'le': bound})} {count}"
            yield f"{name}_sum{_labels(labels)} {_number(value.total)}"
            yield f"{name}_count{_labels(labels)} {counts[-1]}"
        else:
            yield f"{name}{_labels(labels)} {_number(value)}"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(value)

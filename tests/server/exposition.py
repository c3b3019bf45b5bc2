"""A strict reader of what Prometheus reads, written from the description of the format.

https://prometheus.io/docs/instrumenting/exposition_formats/ It also checks what `promtool` looks at: counters
are named as such, and histograms add up.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
HELP = re.compile(rf"# HELP ({NAME}) (\S.*)")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge|histogram)")
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")

Labels = tuple[tuple[str, str], ...]


class Figures(Struct):
    kinds: dict[str, str] = {}
    samples: dict[tuple[str, Labels], float] = {}

    def one(self, name: str, **labels: str) -> float:
        return self.samples[name, tuple(sorted(labels.items()))]

    def all(self, name: str) -> Mapping[Labels, float]:
        return {labels: value for (found, labels), value in self.samples.items() if found == name}


def read(text: str) -> Figures:
    """The figures; an `AssertionError` says what is wrong with the text."""
    found, family = Figures(), ""
    assert text.endswith("\n")
    lines = iter(text.splitlines())
    for line in lines:
        if (helped := HELP.fullmatch(line)) is not None:
            family = helped[1]
            assert family not in found.kinds, f"{family} comes twice"
            typed = TYPE.fullmatch(next(lines))
            assert typed is not None, f"{family} has no type after its help"
            assert typed[1] == family
            found.kinds[family] = typed[2]
            assert family.endswith("_total") == (typed[2] == "counter"), f"{family} is a {typed[2]}"
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample is not None, f"this is no sample: {line!r}"
        name, labels, value = sample[1], _labels(sample[2] or ""), float(sample[3])
        kind = found.kinds[family]
        ends = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        assert name in [family + end for end in ends], f"{name} stands among the samples of {family}"
        assert (name, labels) not in found.samples, f"{line!r} comes twice"
        assert kind == "gauge" or value >= 0
        found.samples[name, labels] = value
    for name in [name for name, kind in found.kinds.items() if kind == "histogram"]:
        _check_histogram(found, name)
    return found


def _labels(text: str) -> Labels:
    pairs = [pair.split("=", 1) for pair in re.findall(LABEL, text)]
    return tuple(sorted((key, re.sub(r"\\(.)", r"\1", value[1:-1])) for key, value in pairs))


def _check_histogram(found: Figures, name: str) -> None:
    series: dict[Labels, dict[float, float]] = {}
    for labels, count in found.all(f"{name}_bucket").items():
        bound = float(dict(labels)["le"])
        series.setdefault(tuple(each for each in labels if each[0] != "le"), {})[bound] = count
    assert series, f"{name} has no buckets"
    for labels, buckets in series.items():
        assert list(buckets) == sorted(buckets), f"{name}: the bounds do not rise"
        assert list(buckets.values()) == sorted(buckets.values()), f"{name}: the counts do not add up"
        assert buckets[float("inf")] == found.samples[f"{name}_count", labels]
        assert (f"{name}_sum", labels) in found.samples

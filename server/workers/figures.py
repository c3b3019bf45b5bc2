"""Figures of several processes as one: values in, values out.

Counters and histograms never shrink, so those of processes that have ended are added as well; gauges
count only what is true now.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from server.host.exposition import Family, Sample
from server.host.histogram import Histogram
from server.workers.messages import Counted, Figures, Status

LARGEST = frozenset({"quintain_store_trouble"})  # gauges that say yes or no

Key = tuple[str, tuple[tuple[str, str], ...]]  # a name, and labels


def counted(families: Iterable[Family]) -> tuple[Figures, ...]:
    """Figures, as they are told to another process."""
    return tuple(
        [
            Figures(each.name, each.kind, each.help, tuple([_counted(sample) for sample in each.samples]))
            for each in families
        ]
    )


def families(status: Status) -> list[Family]:
    """Families, from the figures that another process told."""
    return [
        Family(each.name, each.kind, each.help, tuple([_sample(sample) for sample in each.samples]))
        for each in status.figures
    ]


def together(earlier: Status | None, ended: Status) -> Status:
    """What processes have counted that have ended, and one more of them: so many may end in a year."""
    if earlier is None:
        return ended
    figures = counted(added(families(earlier), [], [families(ended)]))
    return Status(earlier.moves + ended.moves, figures)


def added(
    own: Iterable[Family], now: Sequence[Sequence[Family]], past: Sequence[Sequence[Family]]
) -> Iterator[Family]:
    """One family of each name, with the samples of all processes added."""
    known = {each.name: each for each in own}
    samples: dict[str, dict[Key, Sample]] = {
        name: {_key(name, sample.labels): sample for sample in family.samples}
        for name, family in known.items()
    }
    for others, lasting in ((now, False), (past, True)):
        for family in (each for families in others for each in families):
            if lasting and family.kind == "gauge":
                continue
            known.setdefault(family.name, family)
            of_name = samples.setdefault(family.name, {})
            for sample in family.samples:
                key = _key(family.name, sample.labels)
                before = of_name.get(key)
                of_name[key] = sample if before is None else _sum(family.name, before, sample)
    for name, family in known.items():
        yield Family(name, family.kind, family.help, tuple(samples[name].values()))


def _key(name: str, labels: Mapping[str, str]) -> Key:
    return name, tuple(sorted(labels.items()))


def _sum(name: str, one: Sample, other: Sample) -> Sample:
    first, second = one.value, other.value
    if isinstance(first, Histogram) and isinstance(second, Histogram):
        return Sample(first.plus(second), one.labels)
    if isinstance(first, Histogram) or isinstance(second, Histogram):
        return one
    return Sample(max(first, second) if name in LARGEST else first + second, one.labels)


def _counted(sample: Sample) -> Counted:
    value, labels = sample.value, dict(sample.labels)
    if isinstance(value, Histogram):
        return Counted(labels, value.total, value.bounds, tuple(value.counts))
    return Counted(labels, value)


def _sample(counted: Counted) -> Sample:
    if counted.bounds:
        return Sample(Histogram.of(counted.counts, counted.value), counted.labels)
    return Sample(counted.value, counted.labels)

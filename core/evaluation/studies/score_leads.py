"""Which means of scores are ahead over many texts, and which are not ahead of random attributions, in words; means
alone, without a test.
"""

from collections.abc import Mapping, Sequence

from core.mathematics.ranking import are_level
from core.mathematics.statistics import Interval
from core.metrics.catalogue import metrics
from core.metrics.registry import LOWER
from core.wording import fixed_number, joined


def ahead_by(name: str, means: Mapping[str, float], counts: Mapping[str, int], n: int) -> str:
    """Whose mean is ahead by a metric that has a direction, as a sentence goes on: "by NS the highest is gradient
    (0.400 ↑)".

    Args:
        means: of each measure that has one, one at least; counts: over how many of n texts each is.
    """
    direction = metrics()[name].direction
    best = max(means, key=lambda one: direction * means[one])
    level = [one for one in means if are_level(means[best] - means[one])]
    ends = dict.fromkeys(fixed_number(end(means[one] for one in level)) for end in (min, max))
    which = "lowest" if direction == LOWER else "highest"
    fewer = f", n = {counts[best]:,}" if counts[best] < n else ""
    are, alike = ("are", ", which are level") if len(level) > 1 else ("is", "")
    return f"by {name} the {which} {are} {joined(level)}{alike} ({' to '.join(ends)} {metrics()[name].arrow}{fewer})"


def beside_random(means: Mapping[tuple[str, str], Interval], measures: Sequence[str], random: str) -> str:
    """Which measures' means do not stand apart from that of random attributions, ahead of it, by which metrics, a
    sentence; "" where nothing has an interval.

    Args:
        means: of each (metric, measure), and of (metric, random).
    """
    behind: dict[tuple[str, ...], list[str]] = {}
    asked = False
    for name in dict.fromkeys(metric for metric, _ in means):
        direction, chance = metrics()[name].direction, means[name, random]
        known = [one for one in measures if means[name, one].known] if direction and chance.known else []
        asked = asked or bool(known)
        if met := tuple(one for one in known if not _apart(means[name, one], chance, direction)):
            behind.setdefault(met, []).append(name)
    if not asked:
        return ""
    if not behind:
        return "Every mean is ahead of that of random attributions, and their 95 % intervals do not meet."
    told = "; ".join(f"{joined(names)} by {joined(by)}" for names, by in behind.items())
    return f"Not ahead of random attributions, or so little that the 95 % intervals meet: {told}."


def _apart(one: Interval, chance: Interval, direction: int) -> bool:
    return one.high < chance.low if direction == LOWER else one.low > chance.high

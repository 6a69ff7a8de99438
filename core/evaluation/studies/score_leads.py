"""Which means of scores are ahead over many texts, and which are not ahead of random attributions, in words; means
alone, without a test.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from core.evaluation.findings import FEW
from core.mathematics.statistics import Interval
from core.measures.catalogue import measures
from core.measures.registry import ORACLE
from core.metrics.catalogue import hard_and_fixed, hard_and_soft, metrics
from core.metrics.registry import LOWER
from core.oracle.erasing import MASK
from core.validity.marks import with_sign
from core.verdicts.telling import suits_sentence
from core.wording import amount, cut_sentence, joined

if TYPE_CHECKING:
    from core.evaluation.studies.scoring import ScoresReport, Scoring

NS_AND_NC = (
    "NS and NC ↑: normalised sufficiency (important words are kept whole: the prediction should stay) and "
    "comprehensiveness (they are erased whole: it should fall), 0 to 1. Soft-NS and Soft-NC ↑: the same, each word "
    "kept or erased in part, by its attribution."
)
_NAMED = "with the highest stand those whose 95 % interval overlaps its; whether they differ is not tested here"
# Who is named together, by the same standard as against random attributions.
TOGETHER = (
    "Intervals (95 %, over the texts) are of each mean by itself. Named together are measures whose interval meets "
    "that of the mean that is ahead, which is no finding that they are level."
)
UNTESTED_SCORES = (
    "Whether measures differ, and whether the model knows the inputs that these scores rest on, is not tested on this "
    "page; Scoreboard tests both."
)


def score_sentences(study: "Scoring", report: "ScoresReport", random: str) -> list[str]:
    """Which measures have the highest mean by each metric, hard ones first, whose inputs a model that was made for
    masking is likelier to know; none of them is called best: that is not tested.

    Args:
        random: the name of the baseline of random attributions.
    """
    told = _told(study, report)
    about = [TOGETHER] * (report.n >= FEW)
    about += [cut_sentence(report.found.cut, len(report.found))]
    about += [f"Left out ({count:,}): {why}" for why, count in report.left_out.items()]
    if any(0 < n < report.n for n in report.counts.values()):
        about.append("n: over fewer texts, on which alone the metric is defined.")
    best = f"Over {amount(report.n, 'text')} no measure is put first: answers begin at {FEW:,}."
    first, *rest = told or [""]
    if not first:
        best = "None of these metrics says anything of these measures here."
    elif report.n >= FEW:
        best = f"{_begun(first)} (means over {_texts(study, report)}; {_NAMED})."
        soft = rest if report.tally.settled else []
        spelled = [NS_AND_NC] * bool({*study.metrics} & {*itertools.chain(*hard_and_soft(), *hard_and_fixed())})
        about = [*(f"{_begun(one)}." for one in soft), *spelled, UNTESTED_SCORES, *about]
        beside = beside_random(report.means, study.measures, random) if study.baseline == random and study.count else ""
        best = " ".join(filter(None, [best, _favoured(study, report), beside]))
    return [report.tally.tell(best, "The means so far stand in the table."), *filter(None, about)]


def _texts(study: "Scoring", report: "ScoresReport") -> str:
    """Over how many texts the metrics of the first sentence are: "198 of 200 texts"."""
    hard = [name for name in study.metrics if metrics()[name].direction and not metrics()[name].soft]
    # Where no hard metric has a value on any text, it is told of the others.
    every = (hard, study.metrics)
    of = ({report.counts[name, one] for name in names for one in study.measures} - {0} for names in every)
    counts = next(filter(None, of), {0})
    many = " to ".join(f"{n:,}" for n in dict.fromkeys((min(counts), max(counts))))
    return amount(report.n, "text") if counts == {report.n} else f"{many} of {amount(report.n, 'text')}"


def _begun(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}"


def _told(study: "Scoring", report: "ScoresReport") -> list[str]:
    """Who is ahead by hard metrics, and by soft ones, where there are any, as a sentence goes on."""
    told: dict[bool, dict[str, dict[str, Interval]]] = {False: {}, True: {}}
    for name in study.metrics:
        means = {one: report.means[name, one] for one in study.measures}
        known = {one: mean for one, mean in means.items() if mean.mean == mean.mean}
        if metrics()[name].direction and known:
            told[metrics()[name].soft][name] = known
    return [ahead_by(part, report.rejected) for part in told.values() if part]


def _favoured(study: "Scoring", report: "ScoresReport") -> str:
    """What favours a measure that hard metrics name, a sentence; "" where none of those masks words as they do."""
    hard = [name for name in study.metrics if metrics()[name].direction and not metrics()[name].soft]
    named = [
        one
        for name in hard
        for one in named_together(name, {each: report.means[name, each] for each in study.measures})
    ]
    masks = study.how.erasure == MASK and any(measures()[one].needs == ORACLE for one in named)
    return suits_sentence(study.measures, "as hard metrics erase them") if masks else ""


def named_together(name: str, means: Mapping[str, Interval]) -> list[str]:
    """Whose 95 % interval meets that of the best mean by a metric that has a direction, that one among them; [] where
    no mean has an interval.
    """
    known = {one: mean for one, mean in means.items() if mean.known}
    if not known:
        return []
    best = known[_best(name, known)]
    return [one for one, mean in known.items() if mean.high >= best.low and mean.low <= best.high]


def _best(name: str, means: Mapping[str, Interval]) -> str:
    return max(means, key=lambda one: metrics()[name].direction * means[one].mean)


def ahead_by(means: Mapping[str, Mapping[str, Interval]], rejected: Collection[str] = ()) -> str:
    """Whose mean is ahead by metrics that have a direction, with all whose intervals meet that one’s, metrics that say
    the same together, as a sentence goes on: "by NC and NS the highest is gradient; by Soft-NS the highest are …".

    Args:
        means: {metric: {measure that has a mean by it, one at least: its mean}}; rejected: metrics that rest on
            rejected inputs, which stand last.
    """
    alike: dict[str, list[str]] = {}
    for name in sorted(means, key=lambda name: name in rejected):
        alike.setdefault(_ahead(name, means[name]), []).append(with_sign(name, name in rejected))
    return "; ".join(f"by {joined(names)} {said}" for said, names in alike.items())


def _ahead(name: str, means: Mapping[str, Interval]) -> str:
    """Who is ahead by a metric, behind its name."""
    named = named_together(name, means)
    if not named:
        return f"none is put first, since fewer than {FEW} texts have a value"
    few = [one for one, mean in means.items() if not mean.known]
    left = f" ({joined(few)} left out, of fewer than {FEW} texts)" if few else ""
    which = "lowest" if metrics()[name].direction == LOWER else "highest"
    return f"the {which} {'is' if len(named) == 1 else 'are'} {joined(named)}{left}"


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

"""What diagnosticity comes to in words: an answer, what SoftFaith found beside it, numbers as rows, JSON and text."""

import itertools
from collections.abc import Sequence

import numpy as np

from core.evaluation.findings import FEW, too_few
from core.evaluation.studies.diagnosticity_paper import diagnosticity_findings
from core.evaluation.studies.diagnosticity_report import (
    ALL,
    EQUAL,
    HARD,
    SOFT,
    SPARSE,
    UNKNOWN,
    DiagnosticityReport,
    Tested,
)
from core.evaluation.studies.scoring import RANDOM, SHUFFLED, Scoring, interval_text
from core.explanation.rows import values_taken
from core.mathematics.diagnosticity import CHANCE, HALF, STRICT
from core.mathematics.erasure import LENGTHS
from core.oracle.erasing import MASK
from core.verdicts.telling import suits_sentence
from core.wording import amount, as_json, fixed_number, joined, number, p_value, percent, share_text, text_table

# The paper, as sentences name it.
SOFTFAITH = "SoftFaith (Zhao and Aletras, ACL 2023)"
UNTESTED = (
    "Whether the model knows the inputs of these metrics is not tested here, nor whether measures are better than "
    "chance, which diagnosticity takes for granted."
)
# What measures are set against, as sentences name it.
BASELINE_WORDS = {RANDOM: "random attributions", SHUFFLED: "shuffles of their own scores"}


def diagnosticity_answer(found: DiagnosticityReport) -> str:
    """Do metrics tell measures from the baseline, soft ones better than hard ones, and does the rule for ties decide
    that? Told by its tally; plain text.
    """
    return " ".join(diagnosticity_parts(found))


def diagnosticity_parts(found: DiagnosticityReport) -> list[str]:
    """The answer, and what it rests on where it is told of tests."""
    figures = _tested_figures(found) if found.tally.settled and found.tests else ""
    fixed = _fixed_figures(found) if found.tally.settled else ""
    return [found.tally.tell(_answer(found), _figures(found)), *filter(None, [figures, fixed])]


def _figures(found: DiagnosticityReport) -> str:
    """Diagnosticity with neither lead nor test."""
    told = [f"{name} {fixed_number(found.cells[name, ALL].half.mean)}\u00a0↑" for name in found.told]
    return f"Diagnosticity, a tie counting one half: {', '.join(told)}." if told else ""


def _answer(found: DiagnosticityReport) -> str:
    against = BASELINE_WORDS[found.study.baseline]
    if not found.told:
        why = dict.fromkeys(sentence for reasons in found.reasons.values() for sentence in reasons)
        return f"Nothing can be said: every metric is undefined on these texts. {' '.join(why)}".rstrip()
    if not found.tests:
        best = max(found.told, key=lambda name: found.cells[name, ALL].half.mean)
        one, alone = found.cells[best, ALL], len(found.told) == 1
        what = f"prefers the measures to {against}{'' if alone else ' the most often here'}"
        if one.half.mean <= 0.5:
            what = (
                f"prefers the measures to {against} in no more than half of the "
                f"pairs{'' if alone else ', and so does every other metric'}"
            )
        what = f"{too_few(found.n).capitalize()}. {best}" if found.n < FEW else f"{best} {what}"
        return (
            f"{what}: diagnosticity {interval_text(one.half)} ↑ with a tie as one half, where 0.5 prefers "
            f"neither ({one.strict.mean:.3g} with a tie as 0), "
            f"over {found.n:,} text{'' if found.n == 1 else 's'}."
        )
    halves = [one for one in found.tests if one.rule == HALF]
    # Pairs of metrics of which nothing can be told take no part in what is said of the others.
    able = [one for one in halves if one.ahead not in (SPARSE, UNKNOWN)]
    ahead = {one.ahead for one in able} or {SPARSE if any(one.ahead == SPARSE for one in halves) else UNKNOWN}
    left = (
        "" if len(able) in (0, len(halves)) else f" (told of {joined([f'{a.soft} and {a.hard}' for a in able])} alone)"
    )
    more = f"prefer measures to {against} more often than"
    over = _over(found, able)
    by_masks = HARD in ahead and found.study.how.erasure == MASK
    suits = suits_sentence(found.study.measures, "as hard metrics erase them") if by_masks else ""
    begins = _from_chance(found)
    # What is pooled says nothing of a measure by itself, which stands beside it.
    untold = _untold_by_itself(found) if begins else ""
    amounts = _by_amounts(found, able) if {SOFT, HARD} & ahead else ""
    verdict = f"{_verdict(found, over, frozenset(ahead), more)}{left}{amounts}."
    return " ".join(filter(None, [begins, verdict, untold, _by_one(found) if begins else "", suits, UNTESTED]))


def _by_amounts(found: DiagnosticityReport, able: Sequence[Tested]) -> str:
    """That a lead may be of how much soft metrics keep, as a sentence goes on; "" where they keep as much of the
    baseline.
    """
    names = [one.soft for one in able if one.soft in found.by_amount]
    if not names:
        return ""
    keep = "keeps or erases" if len(names) == 1 else "keep or erase"
    return (
        f"; that may come from how much {joined(names)} {keep} and not from which words (Baseline {SHUFFLED}, in the "
        "settings, compares at the same amount)"
    )


def _tested_figures(found: DiagnosticityReport) -> str:
    """The figures that are set against each other by tests."""
    halves = [one for one in found.tests if one.rule == HALF]
    told, both = "; ".join(map(_pair, halves)), {one.found.n for one in halves}
    fewer = both != {found.n} and len(both) == 1 and found.n > 1
    where = f" on the {min(both):,} texts on which both have a value" if fewer else ""
    return f"Diagnosticity{where}, a tie counting one half: {told}.{_by_strict(found)}"


def _fixed_figures(found: DiagnosticityReport) -> str:
    """The figures of soft metrics that keep a fixed share, beside those of hard ones; "" where none is scored."""
    halves = [one for one in found.fixed if one.rule == HALF]
    told = "; ".join(map(_pair, halves))
    return (
        f"Where soft metrics keep a fixed share, so that what scores add up to does not count: {told}." if told else ""
    )


def _from_chance(found: DiagnosticityReport) -> str:
    """Whether metrics tell measures from the baseline, by the 95 % interval of each, and how often they prefer them;
    "" of fewer texts than a verdict is told of.
    """
    half = {name: found.cells[name, ALL].half for name in found.told}
    if found.n < FEW or len(half) < 2:
        return ""
    above = [name for name, one in half.items() if one.low > CHANCE[HALF]]
    alone = len(found.study.measures) == 1
    against = BASELINE_WORDS[found.study.baseline]
    them = f"{'it' if alone else 'the measures'} from {against}"
    told = [name for name, one in half.items() if one.known]
    least, most = (choose(told or half, key=lambda name: half[name].mean) for choose in (min, max))
    rest = [name for name in told if name not in above]
    others = "the others do" if len(told) == len(half) else f"{joined(rest)} {'does' if len(rest) == 1 else 'do'}"
    some = f"{joined(above)} tell{'s' * (len(above) == 1)} {them}, {others} not for certain"
    every, none = "every one of these metrics tells", "none of these metrics tells"
    if len(told) < len(half):
        few = f"{joined(told)}, of which alone enough texts have a value,"
        every = f"{few} {'tells' if len(told) == 1 else 'tell'}"
        none = f"{few} {'does' if len(told) == 1 else 'do'} not tell"
    tells = {len(told): f"{every} {them}", 0: f"{none} {them} for certain"}.get(len(above), some)
    if not told:
        tells = f"no metric has a value on {FEW} texts, so that none is shown to tell {them}"
    of = f"Of {found.study.measures[0]}" if alone else "Over all measures together"
    begins = f"{of} {tells}"
    whose = "its" if alone else "the measures’"
    return (
        f"{begins}: {whose} attributions are preferred "
        f"in {percent(half[least].mean)} ({least}) to {percent(half[most].mean)} ({most}) of the pairs, a tie "
        "counting one half (tossing a coin: 50 %)."
    )


def _of_single(found: DiagnosticityReport) -> list[tuple[str, str]]:
    """(metric, measure) of which there is an interval; none of one measure, which all together are."""
    names = found.study.measures
    known = [at for at in itertools.product(found.told, names) if found.cells[at].half.known]
    return known if len(names) > 1 else []


def _untold_by_itself(found: DiagnosticityReport) -> str:
    """Which measures by themselves are not told from the baseline by metrics that tell all together, by the rule that
    counts a tie one half, a sentence; "" where all are.
    """
    above = [name for name in found.told if found.cells[name, ALL].half.low > CHANCE[HALF]]
    never = [at for at in _of_single(found) if at[0] in above and found.cells[at].half.low <= CHANCE[HALF]]
    if not never:
        return ""
    by: dict[str, list[str]] = {}
    for metric, measure in never:
        by.setdefault(metric, []).append(measure)
    parts = [f"{metric} does not tell {joined(some, 'or')}" for metric, some in by.items()]
    return f"Taken measure by measure, {'; '.join(parts)} from {BASELINE_WORDS[found.study.baseline]}."


def _by_one(found: DiagnosticityReport) -> str:
    """Which measures by themselves these metrics prefer for certain, by each rule for ties, a sentence; "" of one
    measure, and where nothing has an interval.
    """
    known = _of_single(found)
    if not known:
        return ""
    above = {rule: [at for at in known if found.cells[at].by(rule).low > CHANCE[HALF]] for rule in (STRICT, HALF)}
    sure = [at for at in known if at in above[STRICT] and at in above[HALF]]
    told = (
        f"Measure by measure {len(sure):,} of {len(known):,} intervals (95 %, each by itself, not corrected for how "
        "many there are) lie above one half, whichever way ties count"
    )
    never = [at for at in known if at not in above[HALF]]
    hang = [at for at in above[HALF] if at not in sure]

    def those(cells: list[tuple[str, str]]) -> str:
        return f"{'that' if len(cells) == 1 else 'those'} of {_of_whom(cells, ' and of ')}"

    told += f"; not {those(never)}" if 0 < len(never) < len(known) else ""
    return f"{told}; {those(hang)} only with a tie as one half." if hang else f"{told}."


def _of_whom(cells: Sequence[tuple[str, str]], also: str = " and ") -> str:
    """Which these are, (metric, measure), as a sentence goes on: "gradient and attention by NS"."""
    by: dict[str, list[str]] = {}
    for metric, measure in cells:
        by.setdefault(metric, []).append(measure)
    return also.join(f"{joined(some)} by {metric}" for metric, some in by.items())


def _pair(one: Tested) -> str:
    """A soft metric beside its hard one; where either has no value, why."""
    p = p_value(one.found.paired).replace(" ", "\u00a0")
    # Of a few texts p is no evidence, however small.
    why = one.found.reason.rstrip(".") or (f"{one.found.n:,} texts, too few to test" if one.found.n < FEW else p)
    if np.isnan([one.found.first, one.found.second]).any():
        return f"{one.soft} beside {one.hard} — ({why})"
    return (
        f"{one.soft} {fixed_number(one.found.second)}\u00a0↑ against {one.hard} {fixed_number(one.found.first)} ({why})"
    )


def _over(found: DiagnosticityReport, able: Sequence[Tested]) -> str:
    """Over which texts soft metrics are tested against hard ones, as a sentence begins."""
    counts = sorted({one.found.n for one in able}) or [found.n]
    if counts == [found.n]:
        return f"Over {amount(found.n, 'text')}"
    many = " to ".join(f"{n:,}" for n in dict.fromkeys((counts[0], counts[-1])))
    return f"Over the {many} of {amount(found.n, 'text')} on which both kinds have a value"


def _verdict(found: DiagnosticityReport, over: str, ahead: frozenset[str], more: str) -> str:
    """Which kind of metric is ahead and, against SoftFaith's baseline, whether SoftFaith says so too."""
    paper = found.study.baseline == RANDOM
    if found.n < FEW and ahead != frozenset([UNKNOWN]):
        return f"{too_few(found.n).capitalize()}"
    unsure = (
        f"; {SOFTFAITH} found that soft ones {more} hard ones"
        if paper
        else f" in how often they prefer measures to {BASELINE_WORDS[found.study.baseline]}"
    )
    return {
        frozenset([SOFT]): f"{over}, soft metrics {more} hard ones{f', as {SOFTFAITH} found' if paper else ''}",
        frozenset(
            [HARD]
        ): f"{over}, hard metrics {more} soft ones{f'; {SOFTFAITH} found the reverse' if paper else ''}",
        frozenset([EQUAL]): f"{over}, soft and hard metrics do not differ for certain{unsure}",
        frozenset(
            [SPARSE]
        ): "Which of soft and hard metrics prefer measures more often is not told: both have a value on "
        f"fewer than {FEW} texts",
        frozenset([UNKNOWN]): "Whether soft metrics beat hard ones cannot be tested here",
    }.get(ahead, f"{over}, neither kind of metric is ahead throughout{unsure}")


def set_against(study: Scoring) -> str:
    """What each measure is set against, with its number."""
    if study.baseline == RANDOM:
        return f"{study.count} random attribution{'' if study.count == 1 else 's'} of the same text"
    return f"{study.count} shuffle{'' if study.count == 1 else 's'} of its own scores"


def _by_strict(found: DiagnosticityReport) -> str:
    """Whether a tie as 0, SoftFaith's rule, says the same."""
    strict = [one for one in found.tests if one.rule == STRICT]
    halves = {(one.hard, one.soft): one for one in found.tests if one.rule == HALF}
    turned = [one for one in strict if one.ahead != halves[one.hard, one.soft].ahead]
    if not turned:
        return " Counting a tie 0, as SoftFaith does, leaves that as it is."
    words = {
        SOFT: "the soft metric is ahead",
        HARD: "the hard metric is ahead",
        EQUAL: "neither is ahead",
        SPARSE: "which is not told of so few texts",
        UNKNOWN: "that cannot be tested",
    }
    return (
        " With a tie as 0, as SoftFaith counts, it is otherwise: "
        + "; ".join(
            f"{one.soft} {one.found.second:.3g} against {one.hard} {one.found.first:.3g}, {words[one.ahead]}"
            for one in turned
        )
        + "."
    )


# ---- as rows

# Of a row, and of a JSON file.
_COLUMNS = {
    "metric": "metric",
    "measure": "measure",
    "rationale length (empty: the metric's own value)": "length",
    "strict ↑": "strict",
    "strict, low": "strict_low",
    "strict, high": "strict_high",
    "half a tie ↑": "half",
    "half, low": "half_low",
    "half, high": "half_high",
    "share of ties": "ties",
    "examples": "examples",
    "undefined pairs": "undefined_pairs",
    "pairs": "pairs",
    "set against": "against",
}
HEADER = ("model", "data", *_COLUMNS)


def diagnosticity_rows(found: DiagnosticityReport) -> list[list]:
    """A report as rows, see HEADER; lengths are over all measures."""
    listed = [(metric, measure, None, one) for (metric, measure), one in found.cells.items()]
    listed += [
        (metric, ALL, length, one) for metric, cells in found.lengths.items() for length, one in zip(LENGTHS, cells)
    ]
    return [
        [
            found.model,
            found.data,
            metric,
            measure,
            length,
            *_three(one.strict),
            *_three(one.half),
            one.ties,
            one.n,
            one.undefined,
            one.pairs,
            found.study.baseline,
        ]
        for metric, measure, length, one in listed
    ]


def diagnosticity_json(found: DiagnosticityReport) -> dict:
    """A report as plain values for a JSON file; null where there is no number."""
    how = found.study.how
    return {
        "model": found.model,
        "data": found.data,
        "examples": found.n,
        "sentence": diagnosticity_answer(found),
        "notes": list(found.notes),
        "unit": found.study.unit,
        "measures": list(found.study.measures),
        "values": {name: values_taken(name, found.study.sign) for name in found.study.measures},
        "baseline": found.study.baseline,
        "count": found.study.count,
        "erasure": how.erasure,
        "scaling": how.scaling,
        "placement": how.placement,
        "sigma": how.sigma,
        "draws": how.draws,
        "seed": how.seed,
        "diagnosticity": [
            dict(zip(_COLUMNS.values(), map(as_json, row[2:]), strict=True)) for row in diagnosticity_rows(found)
        ],
        "tests": [_test_json(one) for one in (*found.tests, *found.fixed)],
        "findings": [
            {"claim": one.claim, "here": one.here, "agrees": one.agrees} for one in diagnosticity_findings(found)
        ],
    }


def _test_json(one: Tested) -> dict:
    return {
        "hard": one.hard,
        "soft": one.soft,
        "rule": one.rule,
        "examples": one.found.n,
        "hard_mean": as_json(one.found.first),
        "soft_mean": as_json(one.found.second),
        "rank_sum_p": as_json(one.found.rank_sum),
        "paired_p": as_json(one.found.paired),
        "reason": one.found.reason,
    }


def readable_diagnosticity(found: DiagnosticityReport) -> str:
    """A report as text for a terminal."""
    cells = [
        [
            metric,
            measure,
            interval_text(one.strict),
            interval_text(one.half),
            share_text(one.ties, 1) if one.n else "—",
            f"{one.n}",
            f"{one.undefined}",
        ]
        for (metric, measure), one in found.cells.items()
    ]
    ends = [share_text(length) for length in LENGTHS]
    lengths = [
        [metric, *(fixed_number(one.strict.mean) for one in row), *(fixed_number(one.half.mean) for one in row)]
        for metric, row in found.lengths.items()
    ]
    tests = [
        [
            f"{one.soft} against {one.hard}",
            one.rule,
            *map(fixed_number, (one.found.second, one.found.first)),
            *map(number, (one.found.rank_sum, one.found.paired)),
            f"{one.found.n}",
            one.found.reason,
        ]
        for one in (*found.tests, *found.fixed)
    ]
    findings = [[one.claim, one.here, one.said] for one in diagnosticity_findings(found)]
    tables = (
        (["metric", "measure", "strict ↑", "a tie as ½ ↑", "ties", "examples", "undefined pairs"], cells),
        (["by length", *ends, *(f"½: {end}" for end in ends)], lengths),
        (["", "ties", "soft", "hard", "rank-sum p", "paired p", "examples", ""], tests),
        (["SoftFaith found (other model and data)", "here", ""], findings),
    )
    said = [diagnosticity_answer(found), f"Each measure is set against {set_against(found.study)}.", *found.notes]
    return "\n\n".join(said + [text_table(header, body) for header, body in tables if body])


def _three(interval) -> tuple[float, float, float]:
    return interval.mean, interval.low, interval.high

"""What metrics say of the measures on one example: whether they agree, on what their numbers rest, and which are
undefined or no better than chance.
"""

from collections.abc import Callable, Sequence

import numpy as np

from core.judging.metric_report import MetricReport, WholeWords
from core.judging.metric_table import MetricTable, count_rejected, equal_lengths, mean_and_spread
from core.mathematics.erasure import BERNOULLI
from core.metrics.catalogue import metrics
from core.metrics.registry import NEITHER
from core.oracle.erasing import REMOVAL, ZERO
from core.validity.marks import SIGN, inputs_text, numbers_text, rule_text, why_unavailable
from core.wording import Tally, amount, escaped, joined, number, strong

# Metrics of one kind that are named.
_MOST_NAMED = 4
_UNTOLD = "<b>Whether it changes the order of the measures cannot be told here</b>"


def directed(names: Sequence[str]) -> list[int]:
    """Which of these metrics have a direction."""
    return [k for k, name in enumerate(names) if metrics()[name].direction != NEITHER]


def metrics_answer(
    board: MetricTable,
    unit: str,
    features: int,
    tally: Tally,
    marked: np.ndarray | None = None,
    tested: np.ndarray | None = None,
    whole: WholeWords | None = None,
) -> str:
    """Whether hard and soft metrics agree on the measures that are judged, in a sentence or two; HTML in which all text
    is escaped.

    Only numbers that are not marked count. Where these leave no two measures to compare by hard metrics, or none by
    soft ones, it cannot be told, and what the others say among themselves follows.

    Args:
        board: all numbers; unit, features: what can be erased, and how many; tally: of the measures that are asked for;
            marked: bool[M, K], numbers that rest on rejected inputs; None where none does; tested: bool[M, K], numbers
            whose inputs could be rejected; None where all could; whole: what is known of erasing whole words.
    """
    none, every = np.zeros(board.values.shape, bool), np.ones(board.values.shape, bool)
    marked, tested = none if marked is None else marked, every if tested is None else tested
    return tally.tell(_answer(board, unit, features, marked, tested, whole or WholeWords()))


def _answer(
    board: MetricTable, unit: str, features: int, marked: np.ndarray, tested: np.ndarray, erased: WholeWords
) -> str:
    if features == 1:
        return (
            f"There is a single {escaped(unit)}, so every measure ranks it first and the metrics have nothing to agree "
            "on."
        )
    if board.undefined == board.values.size:
        why = next(iter(board.told()))[0]
        return f"No metric is defined here: {why[:1].lower()}{why[1:]}"
    trusted = board.without(marked)
    if len(board.measures) < 2 or len(directed(board.metrics)) < 2:
        return (
            f"{_alone(trusted)}Choose at least two "
            f"{'measures' if len(board.measures) < 2 else 'metrics with a direction'} to see "
            f"whether they agree."
        )
    lost = _lost(trusted)
    if lost:
        return _untold(board, trusted, lost, tested, erased)
    by_these = f" Numbers with {SIGN} do not count." if marked.any() else ""
    if trusted.pairs.metrics < 2:
        but = "".join(
            f" but {_told(named)}, which puts {_named(first)} first{_ahead(trusted, first, named)},"
            for first, named in trusted.leaders().items()
        )
        return f"<b>The metrics cannot disagree here</b>: none{but} tells these measures apart.{by_these}"
    return f"<b>{_verdict(trusted)}</b>{_leaders(trusted)}.{by_these}"


def _alone(board: MetricTable) -> str:
    """What the only metric with a direction says; "" where there are more."""
    return "".join(f"{one[:1].upper()}{one[1:]}. " for one in _puts(board))


def _lost(trusted: MetricTable) -> list[bool]:
    """The kinds of metrics (soft: True) that are shown and have no two numbers left to compare."""
    kinds, able = _columns(trusted), trusted.comparable()
    return [soft for soft, columns in kinds.items() if columns and not able[columns].any()]


def _columns(board: MetricTable) -> dict[bool, list[int]]:
    """Which metrics with a direction are hard (False) and which are soft (True)."""
    every = directed(board.metrics)
    return {soft: [k for k in every if metrics()[board.metrics[k]].soft is soft] for soft in (False, True)}


def _untold(board: MetricTable, trusted: MetricTable, lost: list[bool], tested: np.ndarray, erased: WholeWords) -> str:
    """That it cannot be told, why, and what the metrics that are left say; tested: as of `metrics_answer`; erased: what
    is known of whole words.
    """
    kinds, unknown = _columns(board), f"inputs that the model does not know {SIGN}"
    if not any(kinds[soft] for soft in kinds if soft not in lost):
        left = "all" if np.isnan(trusted.values).all() else "too many"
        why = f"{left} numbers rest on {unknown}" if board.comparable().any() else "too few numbers are defined"
        return f"{_UNTOLD}: {why}."
    gone, stays = ("soft", "hard") if lost[0] else ("hard", "soft")
    named, left = [board.metrics[k] for k in kinds[lost[0]]], kinds[not lost[0]]
    whose = _told(named) if len(named) <= _MOST_NAMED else f"{gone} metrics"
    # Half an answer is no place to crown one.
    says = "; ".join(_puts(trusted, escaped)) or "no metric tells these measures apart"
    whole = np.array_equal(trusted.values[:, left], board.values[:, left], equal_nan=True)
    by = f"By {stays} {'erasure alone' if whole else f'numbers without {SIGN}'}, {says}."
    if not board.comparable()[kinds[lost[0]]].any():
        return f"{_UNTOLD}: {whose} {_be(named)} undefined on this text. {by}"
    how = "in part" if lost[0] else "whole"
    known = tested[:, left][~np.isnan(board.values[:, left])].all()
    if whole and known:
        # What is asked for has two answers: one way of erasing leaves the distribution, and the other does not.
        says_nothing = f"{whose} {'says' if len(named) == 1 else 'say'} nothing here"
        model = _leaving(lost[0], named, [board.metrics[k] for k in left], erased)
        return f"{model} <b>For the measures it cannot be told</b>: {says_nothing}. {by}"
    makes = f"{_UNTOLD}: erasing words {how} ({gone}) makes {unknown}"
    if whole:
        return f"{makes}, and whether {stays} erasure does cannot be tested. {by}"
    pairs = zip(trusted.values.T, board.values.T)
    taken = [not np.array_equal(*both, equal_nan=True) for both in pairs]
    too = _told([board.metrics[k] for k in left if taken[k]])
    return f"{makes}, and so does {stays} erasure by {too}. {by}"


def _leaving(soft: bool, lost: Sequence[str], left: Sequence[str], erased: WholeWords) -> str:
    """Which way of erasing words makes inputs that are rejected where the other does not, and what is known of why.

    Args:
        soft: whether the former is erasing in part; lost: the metrics that erase so; left: the others.
    """
    whole = f"whole by {'the ' * (erased.erasure != REMOVAL)}{erased.erasure}"
    unknown = f"make <b>inputs that the model does not know {SIGN}</b>"
    if not soft:
        return f"Words erased {whole} {unknown}; erased in part, none is rejected."
    # Other metrics than these may ask for inputs that are rejected.
    whose = f" for {_told(left)}" if any(rejected for rejected, _ in erased.own) else ""
    model = f"Words erased in part {unknown}; erased {whole}{whose}, none is rejected"
    # Noise and attention zero nothing.
    if not all(metrics()[name].perturbation == BERNOULLI for name in lost):
        return f"{model}."
    if not erased.zeroed:
        return f"{model} (whether for being erased in part or for zeroed embeddings is not told apart)."
    if any(rejected for rejected, _ in erased.zeroed):
        return f"{model}. Zeroing whole words is rejected too ({_many(erased.zeroed)}), so zeroing alone may be why."
    either = f", nor with whole words zeroed ({_many(erased.zeroed)})" * (erased.erasure != ZERO)
    return f"{model}{either}: as far as that tells, erasing in part is why."


def _many(rejected: Sequence[tuple[int, int]]) -> str:
    """How many of a measure's inputs are rejected, over measures: "3 of 8 inputs of each measure", "0 to 3 of …"."""
    least, most = min(count for count, _ in rejected), max(count for count, _ in rejected)
    many = f"{least} to {most}" if least < most else f"{most}" if most else "none"
    return f"{many} of {amount(rejected[0][1], 'input')}{' of each measure' * (len(rejected) > 1)}"


def _be(named: Sequence[str]) -> str:
    return "is" if len(named) == 1 else "are"


def _verdict(board: MetricTable) -> str:
    """Whether it matters how words are erased where hard and soft metrics are shown, and whether metrics agree."""
    pairs, kinds = board.pairs, board.contrary_kinds()
    soft = np.array([metrics()[name].soft for name in board.metrics])
    telling = set(soft[(board.places > 1).any(axis=0)].tolist())
    both = len(telling) == 2
    if not both and len(set(soft[board.comparable()].tolist())) == 2:
        silent, other = ("Hard", "soft") if True in telling else ("Soft", "hard")
        told = f"{silent} erasure tells none of these measures apart here"
        return f"{told}, and {other} metrics do not agree" if pairs.contrary else told
    if not pairs.contrary:
        agree = "agree" if board.unanimous else "do not contradict each other"
        return f"Not here: hard and soft erasure {agree}" if both else f"The metrics {agree}"
    if not both:
        return "The metrics do not agree"
    if (False, True) in kinds:
        return "Here it does: hard and soft erasure do not agree"
    among = " and ".join(name for name, soft in (("hard", False), ("soft", True)) if (soft, soft) in kinds)
    return f"Not here: hard metrics do not contradict soft ones, but {among} ones do not agree among themselves"


def _leaders(board: MetricTable) -> str:
    found = board.leaders()
    if len(found) == 1 and board.pairs.metrics == board.comparable().sum():
        (first, named), *_ = found.items()
        rest = ", and differ on the rest" if board.pairs.contrary else ""
        return f": all put {_named(first)} first{_ahead(board, first, named)}{rest}"
    return f": {_shares(found, board)}" if len(found) > 3 else f": {'; '.join(_puts(board))}"


def _puts(board: MetricTable, name: Callable[[str], str] = strong) -> list[str]:
    """Whom the metrics that tell measures apart put first, and by how much, a clause for each group that is at one;
    name: how a measure's name is written.
    """
    return [
        f"{_told(named)} put{'s' if len(named) == 1 else ''} {joined([name(one) for one in first])} first"
        + _ahead(board, first, named)
        for first, named in board.leaders().items()
    ]


def _ahead(board: MetricTable, first: tuple[str, ...], named: Sequence[str]) -> str:
    """By how much one that is alone first is ahead under these metrics, at least, with ± one standard error where that
    is a mean over draws; else that they are level.
    """
    if len(first) > 1:
        return ", level"
    least, error = min((board.lead(board.metrics.index(name)) for name in named), key=lambda lead: lead[0])
    drawn = f" ± {number(error)}" if error == error else ""
    return f" by {number(least)}{drawn}{' or more' if len(named) > 1 else ''}"


def _shares(found: dict[tuple[str, ...], tuple[str, ...]], board: MetricTable) -> str:
    """Under how many metrics each measure is first, the most often first."""
    counts = {
        measure: sum(len(named) for first, named in found.items() if measure in first) for measure in board.measures
    }
    ordered = sorted((measure for measure in counts if counts[measure]), key=lambda measure: -counts[measure])
    told = [f"{strong(measure)} under {counts[measure]}" for measure in ordered]
    return f"of {board.pairs.metrics} metrics, first is {', '.join(told)} (level ones counted for each)"


def _named(first: tuple[str, ...]) -> str:
    return joined([strong(one) for one in first])


def advice(report: MetricReport, over_many: str) -> str:
    """What one may do with the answer, once all measures are judged; HTML in which all text is escaped.

    A measure is preferred where every metric that tells measures apart, by numbers that are not marked, puts it first,
    be it level with others; whether it is better than random attributions is told once these are judged. None is
    preferred where a number that is asked for is marked or undefined, nor for a lead within a standard deviation of
    random attributions.

    Args:
        over_many: where the same is asked of many texts, as HTML.
    """
    board, many = report.trusted, f"One text decides little: {over_many} asks many."
    undecided = f"One text does not decide whom to prefer: {over_many} asks many."
    if not board.ranked or len(board.measures) < 2:
        return ""
    if report.marked.any() and not board.comparable().any():
        tells = "Recursive masking tells whether this one is rejected before anything is masked"
        return f"So choose no measure by them; try another erasure (More settings), or another text: {tells}."
    if not board.leaders():
        return many
    first = [one for one in board.measures if all(one in led for led in board.leaders())]
    if not first:
        return f"So no measure is the one to prefer on this text. {many}"
    told, good = _beside_chance(report, first)
    if not good:
        return f"{told} {many}"
    if _slight(report, good):
        return undecided
    if report.marked.any() or np.isnan(report.table.oriented[:, directed(board.metrics)]).any():
        return undecided
    return f"So on this text prefer {' or '.join(strong(one) for one in good)}. {many}"


def _slight(report: MetricReport, good: Sequence[str]) -> bool:
    """Whether by some metric these are ahead of the others by less than a standard deviation of random attributions."""
    board, mine = report.trusted, np.isin(report.trusted.measures, good)
    for name in (name for led in board.leaders().values() for name in led):
        values = board.oriented[:, board.metrics.index(name)]
        lead, spread = values[mine].min() - np.nanmax(values[~mine]), mean_and_spread(report.chance[name].values)[1]
        if lead < spread:
            return True
    return False


def _beside_chance(report: MetricReport, first: Sequence[str]) -> tuple[str, list[str]]:
    """What is said of the measures that all metrics put first, given random attributions, and which of them are better
    than these; one of the two is empty.
    """
    board = report.trusted
    compared = np.flatnonzero(board.comparable()).tolist()
    some = report.marked.any() and (board.comparable() < report.table.comparable()).any()
    by = f", by {_told([name for led in board.leaders().values() for name in led])} alone" if some else ""
    named = joined([strong(one) for one in first])
    if any(board.metrics[k] not in report.drawn for k in compared):
        verb = "beats" if len(first) == 1 else "beat"
        return f"Whether {named} {verb} random attributions is not known yet.", []
    marked = [name for name in (board.metrics[k] for k in compared) if report.together(report.chance[name]).marked]
    if marked:
        verb, of = "beats" if len(first) == 1 else "beat", escaped(joined(marked), 300)
        told = f"Whether {named} {verb} random attributions cannot be told: what these score under {of} rests on"
        return f"{told} rejected inputs ({SIGN}).", []
    worse = {one: _no_better(report, one, compared) for one in first}
    good = [one for one in first if not worse[one]]
    if good:
        return "", good
    under = joined([board.metrics[k] for k in compared if any(board.metrics[k] in worse[one] for one in first)])
    verb, they = ("comes", "it is") if len(first) == 1 else ("come", "they are")
    return f"{named} {verb} first{by}, but under {escaped(under, 300)} {they} no better than random attributions.", []


def _no_better(report: MetricReport, measure: str, compared: Sequence[int]) -> list[str]:
    """The metrics under which at least half of the random attributions do as well as a measure."""
    board, better = report.trusted, report.better[report.trusted.measures.index(measure)]
    return [board.metrics[k] for k in compared if better[k] <= 0]


def validity_sentence(report: MetricReport) -> str:
    """Whether numbers rest on rejected inputs, of measures and of random attributions; "" where there are none."""
    gates = report.gates
    if not gates:
        return ""
    marked = {metric for (_, metric), gate in gates.items() if gate.marked}
    whose = joined([name for name in report.names if name in marked])
    inputs = "the inputs behind the numbers of measures"
    said = numbers_text(list(gates.values()), whose, report.smallest, inputs, " of measures")
    return " ".join([said, *_drawn_marked(report, bool(marked))])


def _drawn_marked(report: MetricReport, too: bool) -> list[str]:
    """Which means of random attributions and of shuffles rest on rejected inputs, a sentence; none where none does;
    too: whether numbers of measures do.
    """
    rows, said = {"random attributions": [report.chance], "shuffled scores": list(report.shuffles.values())}, []
    for row, baselines in rows.items():
        under = [
            name for name in report.names if any(name in one and report.together(one[name]).marked for one in baselines)
        ]
        said += [f"{row} under {joined(under)}"] * bool(under)
    also = ", too" * too
    return [f"The means of {joined(said)} carry {SIGN}{also}: all inputs of one are tested together."] * bool(said)


def notes(board: MetricTable) -> list[str]:
    """What to know of single values, a sentence each; first how many are undefined."""
    found = board.told()
    said = []
    if board.undefined:
        said.append(f"{board.undefined} of {board.values.size} values are undefined (—).")
    for (note, gone), cells in found.items():
        by_measure: dict[str, list[str]] = {}
        for measure, metric in cells:
            by_measure.setdefault(measure, []).append(metric)
        where = "; ".join(f"{measure} under {joined(named)}" for measure, named in by_measure.items())
        said.append(f"{'— ' if gone else ''}{where}: {note or 'it gave NaN.'}")
    full = [name for name, reached in zip(board.metrics, (board.values == 1).sum(axis=0)) if reached > 1]
    if full:
        said.append(
            f"Under {joined(full)} several measures reach 1, where the scale ends: it does not tell them apart, "
            "however far their words go."
        )
    return said


def metrics_in_words(board: MetricTable) -> str:
    """The figure of places for those who do not see it."""
    return ". ".join(
        f"{name}: "
        + ", ".join(f"{measure} {place or '—'}" for measure, place in zip(board.measures, board.places[:, k]))
        for k, name in enumerate(board.metrics)
    )


def leaving_sentence(report: MetricReport, measure: str) -> str:
    """Which erasure of a measure's rationales leaves the distribution; HTML in which all text is escaped."""
    gates = {erasure: gate for erasure, (_, gate) in report.leaves(measure).items()}
    first = next(iter(gates.values()))
    if not first.available:
        return why_unavailable(first)
    told = ", ".join(
        f"{strong(erasure)}: {inputs_text(*count_rejected(gate, report.sizes))}" for erasure, gate in gates.items()
    )
    rule = rule_text(first.rule, f"{first.steps} inputs", "input")
    return f"Rationales of {escaped(measure)}, kept and erased at each length: {told} ({rule}, {report.form} form)."


def lengths_sentence(report: MetricReport) -> str:
    """Which lengths of a short text are one input; "" where all differ."""
    same = [
        f"{' and '.join(f'{100 * length:g} %' for length in lengths)} are the same {size} {report.unit}"
        f"{'' if size == 1 else 's'}"
        for size, lengths in equal_lengths(report.sizes)
    ]
    once = "so these lengths are one input that counts more than once in the mean."
    return f"This text is short: {'; '.join(same)}, {once}" if same else ""


def _told(names: Sequence[str]) -> str:
    return escaped(joined(names), 300)

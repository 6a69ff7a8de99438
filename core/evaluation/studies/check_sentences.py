"""What a model check says: its verdict in a sentence, what papers found beside it, its numbers as rows and JSON."""

import math
from collections.abc import Sequence

import numpy as np

from core.evaluation.findings import FEW, NOT_ENOUGH, not_more, points_text, too_few
from core.evaluation.studies.check_lengths import leads_by_length, length_split
from core.evaluation.studies.check_report import (
    CONFUSED,
    DOUBTFUL,
    ONE_CLASS,
    POOR,
    REJECTED,
    TRUSTED,
    UNSURE,
    UNTESTED,
    CheckReport,
    X,
    of_held,
)
from core.evaluation.studies.check_words import masked_in_words, ratios_in_words, shares_elsewhere, spread_text
from core.mathematics.statistics import ALPHA, share_interval, significant
from core.validity.marks import HOLM, OUT, PERCENT, SIGN, alone
from core.validity.references import CALIBRATED, LITERAL, Reference
from core.wording import amount, joined, p_value, percent, share_text

BEGINS = {
    TRUSTED: "Not rejected, which is no proof that it knows masked inputs",
    ONE_CLASS: "Half an answer, since the sample holds one class only",
    UNSURE: f"{NOT_ENOUGH.capitalize()} whether it does this task at all",
}
# Verdicts for which what the test says does not count.
_UNTOLD = (CONFUSED, POOR, UNTESTED)
_AVERAGES = (
    "Averages over all of these texts say little there; a verdict on a single text tests that text’s own inputs."
)
# The share of texts rejected from which on the answer is a plain no.
_MOST, _NEARLY_ALL = 0.5, 0.95
# How a model was trained, as a sentence goes on.
_TRAINED = {"half": "to be masked", "mask": "on masked texts alone", "none": "without masking"}


def verdict_sentence(found: CheckReport) -> str:
    """Whether the model can be trusted under masking, and the figures that this rests on; plain text."""
    return f"{check_answer(found)} {check_figures(found)}"


def check_answer(found: CheckReport) -> str:
    """Whether the model can be trusted under masking, in a sentence or two, told by its tally; plain text."""
    return " ".join(check_parts(found))


def check_parts(found: CheckReport) -> list[str]:
    """The same, paragraph by paragraph: the answer, what it is over all texts where it begins with some, what is
    rejected; one while examples are to come.
    """
    told = _verdict(found)
    if found.tally.settled:
        return [found.tally.tell(told[0]), *told[1:]]
    enough = CALIBRATED in found.random.gates and found.n >= FEW
    tested = f"At most {found.counted(found.worst())}." if enough else ""
    return [found.tally.tell(" ".join(told), tested)]


def check_figures(found: CheckReport) -> str:
    """What the model reaches unmasked and masked, beside a constant answer, and how sure the test is; plain text."""
    reach = (
        f"{found.model} reaches {percent(found.unmasked, found.metric)} {found.metric} ↑ unmasked and "
        f"{percent(found.masked, found.metric)} with {found.sample.whole} masked, where always answering "
        f"{found.majority_name}, the commonest class of {found.majority_of}, reaches "
        f"{percent(found.majority, found.metric)}"
    )
    unsure = found.tally.settled and found.verdict in (POOR, UNSURE) and found.n >= FEW
    gained = f" ({points_text(found.gained[0], found.metric)})" if unsure else ""
    counts = found.tally.settled and CALIBRATED in found.random.gates and found.verdict not in _UNTOLD
    so_far = f"On the {amount(found.n, 'text')} so far, " if found.tally.coming else ""
    tested = ""
    if counts:
        smallest = f"of {len(X)} ratios the smallest {p_value(found.smallest()[0])}, by count, unadjusted"
        tested = f" MaSF tests the inputs, not {found.metric}: {smallest}."
    return f"{so_far}{reach}{gained}.{tested}"


def end_note(found: CheckReport) -> str:
    """Why all orders meet where everything is masked, and what accuracy is there if one class is predicted; "" of
    pairs, whose second text stays.
    """
    if found.sample.paired:
        return ""
    answers = np.unique(found.followed.predicted[found.followed.there, -1])
    share = (
        f", and {found.model} predicts one class for all of them, so accuracy there is that class’s share"
        if len(answers) == 1 and found.metric == "accuracy"
        else ""
    )
    return f"All orders meet with everything masked: nothing of a text is left but its length{share}."


def expected_sentence(reference: Reference, form: str = CALIBRATED) -> str:
    """How many texts the test rejects that it should not: what is expected, and what was found of held-out texts."""
    shares = reference.about["false_rejection"]
    if shares[form] is None:
        return f"{PERCENT} are expected of texts like the reference’s."
    found = spread_text(shares[form])
    expected = (
        f"{PERCENT} are expected of texts like the reference’s, on average over references"
        if form == CALIBRATED
        else "The literal form promises no share"
    )
    return (
        f"{expected}; this one, fitted on other texts ({reference.about['source']}), rejected {found} of "
        f"{amount(shares['texts'], 'held-out text')} ({shares['source']})."
    )


def _verdict(found: CheckReport) -> list[str]:
    if found.sample.picked:
        picked = f"the filter picks texts {found.sample.picked}, so performance here says how they were picked"
        return [f"No verdict on the model: {picked}."]
    if found.n < FEW:
        return [f"{too_few(found.n).capitalize()}."]
    return _untested(found) if found.verdict in _UNTOLD else _tested(found)


def _untested(found: CheckReport) -> list[str]:
    """The verdict for which what the test says, if anything, does not count."""
    masked = found.sample.whole
    if found.verdict == CONFUSED:
        where = ratios_in_words(found.rejected())
        worse = (
            f"No: with {masked} masked it does worse than always answering {found.majority_name}, so masking confuses "
            "it, and scores that rest on masking say little."
        )
        return [worse, *[f"{SIGN} MaSF rejects its inputs as out-of-distribution {where}, too."] * bool(where)]
    if found.verdict == POOR:
        return ["It does not do this task, so what masking does to it says little: choose data of its own task."]
    why = (
        f"its MaSF reference is too small to reject anything (smallest p = {found.floor[CALIBRATED]:.3g})"
        if found.floor
        else "there is no MaSF reference"
    )
    return [f"Half an answer: whether masked inputs are out-of-distribution for it was not tested, since {why}."]


def _tested(found: CheckReport) -> list[str]:
    where, counted = found.rejected(), found.counted(found.worst())
    if found.verdict in BEGINS:
        # Together they are not rejected, but more single texts are than chance and the margin explain.
        beyond = not_more(found.most_rejected(), found.n) is False and not found.as_held_out
        begins = "On the edge" if beyond else BEGINS[found.verdict]
        most = f"{'yet ' if beyond else ''}at most {counted}"
        together = f"masked at random, its inputs are not {OUT} together at any ratio ({most})"
        return [f"{begins}: {together}.{_as_held_out(found)}"]
    if found.verdict == DOUBTFUL:
        return _doubtful(found, where, counted)
    if found.random.gates[CALIBRATED].rejected[0]:
        rejects = f"{SIGN} MaSF rejects even the unmasked texts ({found.counted(0)}), so where it rejects masked ones"
        unlike = "They may be unlike those of its reference, in length or in kind."
        return [f"Not on this data: {rejects}, masking need not be why. {unlike}"]
    return _rejected(found)


def _rejected(found: CheckReport) -> list[str]:
    """Rejected, though not unmasked: of which lengths where that is why, how often at each ratio, by which test."""
    worst, split = found.worst(), length_split(found)
    share = found.random.share(CALIBRATED)[worst]
    masked = masked_in_words(worst, found.sample.whole)
    ends = share_interval(int(found.random.rejected[CALIBRATED][worst]), found.n)
    most = f"{masked} {share_text(share)} (95 %: {share_text(ends.low).removesuffix(' %')} to {share_text(ends.high)})"
    expected = f"where {PERCENT} are expected"
    held = found.held_out
    if held is not None:
        shares = spread_text([held.share(k) for k in range(len(X))])
        expected += f" and {shares} of its own held-out texts{of_held(held).rstrip()} are"
    how_often = f"{shares_elsewhere(found)}{most}, {expected}."
    begins = f"{'No' if share >= _MOST else 'Not reliably'}{_here(share, found)}"
    if split is None:
        told = [f"{begins}: {how_often}"]
    elif leads_by_length(found):
        over = f"Over all {found.n:,} texts: {how_often}"
        where = ratios_in_words(np.flatnonzero(found.random.gates[CALIBRATED].rejected))
        told = [
            split.lead(found.model, masked, where, _above(found)),
            " ".join(filter(None, [over, split.beside_lead])),
        ]
    else:
        told = [f"{begins}: {how_often}", split.sentence]
    averages = "" if found.other_lengths is None else f" {_AVERAGES}"
    return [*filter(None, told), f"{_by_test(found)}{averages}"]


def _above(found: CheckReport) -> str:
    """At which ratios alone they are so more often than the held-out texts of the test, a further sentence; "" where
    nobody knows, and where that is at all at which they are rejected together.
    """
    if found.above is None or found.held_out is None or not len(found.above):
        return ""
    if set(np.flatnonzero(found.random.gates[CALIBRATED].rejected)) <= {*found.above}:
        return ""
    held = f"held-out texts{of_held(found.held_out)}".rstrip()
    return f" Of all {found.n:,}, more are rejected than of {held} only {ratios_in_words(found.above)}."


def _by_test(found: CheckReport) -> str:
    """At which ratios these texts together are rejected, and by which test."""
    held, own = found.held_out, ""
    if held is not None and found.above is not None:
        own = f", and more often than its own held-out texts{of_held(held)}{ratios_in_words(found.above)}"
    return f"{SIGN} Masked at random, these texts together are {OUT} {_where(found)}{own}{_literal(found)}."


def _where(found: CheckReport) -> str:
    """At which ratios these texts together are rejected, and by which rule."""
    gate = found.random.gates[CALIBRATED]
    by = f"by count, Holm over all {len(X)} ratios" if gate.rule == HOLM else f"each ratio by itself at {PERCENT}"
    return f"{ratios_in_words(np.flatnonzero(gate.rejected))} ({by})"


def _here(share: float, found: CheckReport) -> str:
    """That an answer is of these texts, as a sentence goes on; "" of such as the reference's."""
    if found.other_lengths is None:
        return ""
    return ", not on these texts" if share >= _MOST else " on these texts"


def _literal(found: CheckReport) -> str:
    """What the paper's own form of the test says beside the calibrated one, as a sentence goes on; "" without it."""
    if LITERAL not in found.random.gates:
        return ""
    if not found.random.gates[LITERAL].available:
        return "; the paper’s literal form cannot reject here, its reference being too small"
    where, simes = found.rejected(LITERAL), found.random.simes[CALIBRATED]
    if not len(where) and not any(map(significant, simes.tolist())):
        # What decides is not the form, but how texts are combined.
        return f"; by Simes, the paper’s rule, nowhere{simes_takes(found)}"
    said = f"{ratios_in_words(where)}, each ratio by itself" if len(where) else "nowhere"
    return f"; the paper’s literal form rejects them {said}"


def simes_takes(found: CheckReport) -> str:
    """How many texts it takes for Simes over literal p-values to reject, as a sentence goes on; "" for one alone."""
    least = simes_least(found)
    if least is None or least < 2:
        return ""
    return f" (in the literal form that takes {least:,} of {found.n:,} texts with the smallest p that there can be)"


def simes_least(found: CheckReport) -> int | None:
    """How many texts with the smallest literal p that there can be make Simes reject; None without a reference."""
    return math.floor(found.n * found.floor[LITERAL] / ALPHA) + 1 if found.floor else None


def _doubtful(found: CheckReport, where: np.ndarray, counted: str) -> list[str]:
    """Rejected, but by the paper's rule alone, or no more often than held-out texts are."""
    gate = found.random.gates[CALIBRATED]
    if gate.marked:
        beside = f"{SIGN} Beside the {PERCENT} that are expected, these texts together are {OUT} {_where(found)}."
        return [f"On the edge: at most {counted}.{_as_held_out(found)}", beside]
    together = f"tested together, its inputs are not {OUT} at any ratio (Holm over all {len(X)})"
    below = joined([*["unmasked"] * bool(where[0] == 0), *filter(None, [ratios_in_words(where[where > 0])])])
    alone_by = f"Each ratio by itself, p is below {PERCENT} {below} ({counted}), which may be chance."
    no_proof = f"which is no proof that {found.model} knows them"
    return [f"On the edge: {together}, {no_proof}. {alone_by}{_as_held_out(found)}"]


def _as_held_out(found: CheckReport) -> str:
    """That single texts are not shown to be rejected more often than the model's own held-out ones; "" where they are,
    where nobody knows, and where none is rejected anywhere.
    """
    if not found.as_held_out or not found.random.rejected[CALIBRATED].any():
        return ""
    return (
        f" Under {found.model} these texts are not shown to be rejected more often than its own held-out ones "
        f"(Fisher’s exact test, Holm over the {len(X)} ratios{', of few texts' * (found.n < 50)})."
    )


def twin_sentence(reports: Sequence[CheckReport]) -> str:
    """How many texts with everything masked are rejected under the first model and under its twin, which was trained
    otherwise on the same file, of those that both have; "" where no twin is beside it, one of the two cannot be tested,
    or more is to come.

    Source: FMM §5.2.
    """
    first = reports[0]
    for other in reports[1:]:
        kin = first.trained_on is not None and other.trained_on == first.trained_on
        tested = all(CALIBRATED in one.random.gates and one.floor for one in (first, other))
        both = first.followed.there & other.followed.there
        known = {one.training for one in (first, other)} <= set(_TRAINED) and first.training != other.training
        settled = first.tally.settled and other.tally.settled and both.sum() >= FEW
        if not (kin and tested and known and settled) or UNTESTED in (first.verdict, other.verdict):
            continue
        last = (one.followed.p[CALIBRATED][both, -1] for one in (first, other))
        mine, its = (share_text(float(alone(p).mean())) for p in last)
        even = f"; by Simes, the paper’s rule, not even these are {OUT} together" * simes_misses(other, len(X) - 1)
        if first.verdict == REJECTED and first.worst() == len(X) - 1 and both.sum() == first.n:
            # The answer says already what the first one's share is, unless it begins with some of the texts.
            own = f", under {first.model} {mine}" * leads_by_length(first)
            how = f"trained {_TRAINED[other.training]}"
            said = f"Under its twin {other.model}, {how}, {its} of all {first.n:,} texts are rejected"
            return f"{said} with {first.sample.whole} masked{own}{even}."
        return (
            f"With {first.sample.whole} masked, {mine} of the texts are rejected under {first.model}, trained "
            f"{_TRAINED[first.training]}, and {its} under its twin {other.model}, trained "
            f"{_TRAINED[other.training]}{even}."
        )
    return ""


def accuracy_note(found: CheckReport, own: bool) -> str:
    """That performance on a model's own training texts says nothing of new ones, where they are or may be such; ""
    where they are others. own: whether the data was brought along, so that nobody knows.
    """
    if found.trained_on is not None and found.trained_on == found.sample.digest:
        return f"{found.model} was trained on this file, so what it reaches here says nothing about new texts."
    if not own:
        return ""
    return "If the model was trained on these texts, what it reaches here says nothing about new ones."


def simes_misses(found: CheckReport, k: int) -> bool:
    """Whether nearly every text is rejected by itself at a ratio and the paper's rule over all of them rejects nothing:
    that it rejects nothing elsewhere says little then.
    """
    shares, literal = found.random.share(CALIBRATED), found.random.gates.get(LITERAL)
    tested = literal is not None and literal.available
    return tested and bool(shares[k] >= _NEARLY_ALL) and k not in found.rejected(LITERAL)

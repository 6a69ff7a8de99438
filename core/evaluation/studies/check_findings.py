"""What papers found of training with masking, beside what a model check finds."""

from collections.abc import Iterator

import numpy as np

from core.evaluation.findings import (
    FEW,
    MARGIN,
    NOT_ENOUGH,
    Finding,
    not_lower,
    not_more,
    once_counted,
    points_text,
    too_few,
    unsure_of,
)
from core.evaluation.studies.check_lengths import split_told
from core.evaluation.studies.check_report import CheckReport, X, difference_of
from core.evaluation.studies.check_sentences import simes_misses, simes_takes
from core.mathematics.statistics import Interval, more_often, significant
from core.validity.marks import PERCENT
from core.validity.references import CALIBRATED, LITERAL
from core.wording import p_value, percent, share_text

# Of a difference between a model that always gives one class and the class majority.
_ONE_EACH = f"{NOT_ENOUGH}: both give one class for all texts, so this compares only how common the two classes are"


def check_findings(reports: list[CheckReport]) -> list[Finding]:
    """What FMM found, beside what these models do; the first of each training strategy that was trained on the same
    file as the first report's.

    Whether the two agree goes by 95 % intervals over the same texts and a margin of 5 points, from 20 texts on, see
    `core.evaluation.findings`. Nothing is told of a sample of one class, nor of texts picked by what a model does with
    them: on those that one gets wrong another is the better one.

    Source: FMM §5.1 and §5.2.
    """
    by: dict[str, CheckReport] = {}
    for one in reports:
        if one is reports[0] or (one.trained_on is not None and one.trained_on == reports[0].trained_on):
            by.setdefault(one.training, one)
    masked, plain = by.get("half"), by.get("none")
    if reports[0].sample.one_class or reports[0].sample.picked:
        return []
    told = (*_performance(masked, plain), *_validity(masked, plain))
    least = min((one.tally for one in by.values()), key=lambda tally: (not tally.coming, tally.n))
    return once_counted(told, least)


def _performance(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    if masked and plain and masked.metric == plain.metric:
        both = np.flatnonzero(masked.followed.there & plain.followed.there)
        answers = [(one.sample.labels[both], one.followed.predicted[both, 0]) for one in (masked, plain)]
        lost = difference_of(masked.metric, *answers) if len(both) else Interval(np.nan, np.nan, np.nan)
        yield Finding(
            "Masked fine-tuning loses no unmasked performance.",
            f"{percent(masked.unmasked, masked.metric)} against {percent(plain.unmasked, plain.metric)} of plain "
            f"fine-tuning: {points_text(lost, masked.metric)}",
            not_lower(lost, len(both)),
            unsure_of(len(both)),
        )
    for one, falls, claim in (
        (masked, False, "With {} masked, a masked fine-tuned model reaches the class majority."),
        (plain, True, "With {} masked, a plain model falls below it."),
    ):
        if one is not None:
            gained, reaches = one.gained[1], not_lower(one.gained[1], one.n)
            # Below it for certain, though not by the margin: it does not reach it, and hardly falls below it.
            little = reaches is True and gained.high < 0
            alike = one.n >= FEW and len(np.unique(one.followed.predicted[one.followed.there, -1])) == 1
            yield Finding(
                claim.format(one.sample.whole),
                f"{percent(one.masked, one.metric)}, class majority {percent(one.majority, one.metric)}: "
                f"{points_text(gained, one.metric)}",
                None if reaches is None or (little and falls) else reaches != falls,
                "below it, by less than the margin" if little else _ONE_EACH if alike else unsure_of(one.n),
            )


def _validity(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    """A test that does not reject is no agreement: that asks for a share of single texts rejected which is no more than
    5 points above what is expected, by its 95 % interval at every ratio. Told only where the paper's literal form, each
    ratio by itself, says the same.
    """
    for one, should, name in ((masked, False, "masked fine-tuned"), (plain, True, "plain")):
        if one is not None and CALIBRATED in one.random.gates and one.random.gates[CALIBRATED].available:
            p, where = one.smallest()[0], one.rejected().tolist()
            claim = (
                f"The inputs of a {name} model are {'rejected' if should else 'not rejected'} at "
                f"{'some' if should else 'any'} masking ratio."
            )
            # The one exception that FMM names among masked fine-tuned models.
            only_all = "; at no smaller ratio, as FMM found for bAbI-2" if not should and where == [len(X) - 1] else ""
            most = one.most_rejected()
            here = f"{one.counted(one.worst())}{only_all}{_by_length(one)}"
            tested = (
                f"{one.model}: {p_value(p)} (calibrated, by count); literal form, by Simes "
                f"{p_value(one.smallest(LITERAL)[0])}{_cannot(one)}; of single texts at most {100 * most.mean:.1f} % "
                f"[{100 * most.low:.1f}, {100 * most.high:.1f}] rejected, {PERCENT} expected, margin {100 * MARGIN:g}"
            )
            within = not_more(most, one.n)
            rejected = one.n >= FEW and (one.random.gates[CALIBRATED].marked or within is False)
            too = _unmasked_too(one, should)
            if rejected and (one.as_held_out or too):
                why = "unmasked texts are rejected, too" if too else "not shown to be more than of held-out texts"
                yield Finding(claim, here, None, f"{NOT_ENOUGH}: {why}", more=tested)
                continue
            found = True if rejected else False if not where and within else None
            literal = one.random.gates.get(LITERAL)
            # A form that cannot reject says nothing against one that does.
            paper = found if literal is None or not literal.available else len(one.rejected(LITERAL)) > 0
            if found is not None and found != paper:
                differ, how = _forms_differ(one, bool(paper))
                yield Finding(claim, here, None, differ, more=f"{tested}. {how}")
                continue
            told = None if found is None else found == should
            yield Finding(claim, here, told, _unsure(one), _by_one_form(one) * (told is not None), tested)


def _by_length(one: CheckReport) -> str:
    """How many of the texts of usual length are rejected where the most of them are, as a sentence goes on; "" where
    all are of such, or nobody knows.
    """
    split, m = split_told(one), 0
    if split is not None and split.rejected is not None:
        m = split.alike[1]
    if split is None or split.rejected is None or not m:
        return ""
    k = int(split.rejected[0].argmax())
    count = int(split.rejected[0][k])
    most = f"{'all' if count == m else f'at most {share_text(count / m)}'}, at {share_text(X[k])} masked"
    return f"; of the {m:,} of {split.low:,} to {split.high:,} tokens {most}"


def _cannot(one: CheckReport) -> str:
    """That the literal form cannot reject whatever the texts, in brackets; "" where it can."""
    literal = one.random.gates.get(LITERAL)
    shut = literal is not None and not literal.available
    return f" (cannot reject: none of this reference is below {one.floor[LITERAL]:.3g})" if shut else ""


def _by_one_form(one: CheckReport) -> str:
    """That the calibrated form alone says so, behind whether a finding holds; "" where the literal one can reject."""
    return ", by the calibrated test alone" * bool(_cannot(one))


def _forms_differ(one: CheckReport, paper: bool) -> tuple[str, str]:
    """That the two forms of the test disagree, and whether it is what combines the texts that decides: the calibrated
    one counts them, the literal one takes Simes.
    """
    by, not_by = ("Simes in the literal form (the paper’s)", "count in the calibrated one")[:: 1 if paper else -1]
    alike = any(map(significant, one.random.simes[CALIBRATED].tolist())) == paper
    decides = "; by Simes both forms say the same, so how texts are combined decides" * alike
    most, misses = one.random.rejected[CALIBRATED].max(), simes_misses(one, one.worst())
    weak = f"; Simes rejects nothing even where {most:,} of {one.n:,} texts are rejected"
    takes = simes_takes(one) * (not paper)
    short, not_short = ("Simes", "count")[:: 1 if paper else -1]
    return (
        f"the two tests disagree: rejected by {short}, not by {not_short}",
        f"Rejected by {by}, not by {not_by}{takes}{decides}{weak * misses}",
    )


def _unsure(one: CheckReport) -> str:
    if one.n < FEW:
        return too_few(one.n)
    if len(one.rejected()):
        return f"{NOT_ENOUGH}: rejected by itself, not over all ratios"
    return f"{NOT_ENOUGH}: not rejected, but more than the margin may be"


def _unmasked_too(one: CheckReport, should: bool) -> bool:
    """Whether even the unmasked texts are rejected, so that masking need not be why; should: where inputs are expected
    to be, more masked than unmasked ones at some ratio settle that (Fisher's exact tests, careful of the same texts).
    """
    counts = one.random.rejected[CALIBRATED]
    more = should and more_often(counts[1:], one.n, np.full(len(counts) - 1, counts[0]), one.n).any()
    return bool(one.random.gates[CALIBRATED].rejected[0] and not more)

"""How a model check names masking ratios, and what is rejected at them, at random and in the orders of measures."""

from collections.abc import Sequence

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X
from core.mathematics.statistics import holm_adjusted, more_often, significant
from core.validity.marks import HOLM, OUT, SIGN, rule_text
from core.validity.references import CALIBRATED
from core.wording import joined, p_value, share_text


def masked_in_words(k: int, whole: str) -> str:
    """How much is masked at the k-th ratio, as a sentence goes on; whole: what is masked at the last."""
    if X[k] in (0, 1):
        return f"with {whole} masked" if X[k] else "unmasked"
    return f"with {share_text(X[k])} of the words masked at random"


def ratios_in_words(places: np.ndarray) -> str:
    """Ratios in words: "from 50 % masked on" where all that follow are among them, else each, "at 0, 20 to 40 and
    100 % masked"; "" for none.
    """
    if not len(places):
        return ""
    if len(places) > 1 and places[-1] == len(X) - 1 and len(places) == len(X) - places[0]:
        return f"from {share_text(X[places[0]])} masked on"
    # Three or more in a row are told by their ends.
    runs = [run.tolist() for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)]
    ends = [part for run in runs for part in ([run] if len(run) > 2 else [[one] for one in run])]
    told = [" to ".join(dict.fromkeys(f"{100 * X[k]:g}" for k in (part[0], part[-1]))) for part in ends]
    return f"at {joined(told)} % masked"


def shares_elsewhere(found: CheckReport) -> str:
    """Which shares of the texts are rejected at other ratios than the worst one: those apart from it, then those around
    it that are rejected, too, in a row; as a sentence begins that goes on with the worst.
    """
    gate, worst, last = found.random.gates[CALIBRATED], found.worst(), len(X) - 1
    where = set(np.flatnonzero(gate.rejected).tolist())
    first = next(k for k in range(worst, -1, -1) if k - 1 not in where)
    end = next(k for k in range(worst, last + 1) if k + 1 not in where)
    at = [k for k in range(last + 1) if not first <= k <= end]
    low, high = _ends_of(found, at)
    below = f"up to {share_text(X[first - 1])} masked" if first > 1 else "unmasked"
    begins = below if end == last else "at the other ratios"
    many = (
        f"{low if low == high else f'{low} to {high}'} % of the texts are rejected as unlike what {found.model} knows, "
    )
    # Those beside the worst one that are rejected, too.
    around = [k for k in range(first, end + 1) if k != worst]
    ends = " to ".join(dict.fromkeys(f"{100 * X[k]:g}" for k in (around[0], around[-1]))) if around else ""
    less, more = _ends_of(found, around) if around else ("", "")
    beside = f"at {ends} % masked {less if less == more else f'{less} to {more}'} %, " if around else ""
    return f"{begins} {many}{beside}"


def _ends_of(found: CheckReport, places: Sequence[int]) -> tuple[str, str]:
    """The smallest and the largest share of texts rejected at these ratios, in percent."""
    shares = found.random.share(CALIBRATED)[list(places)]
    low, high = (share_text(float(one)).removesuffix(" %") for one in (shares.min(), shares.max()))
    return low, high


def spread_text(shares: Sequence[float]) -> str:
    """Shares by their ends, "5.7 to 8.6 %"; one where both read alike."""
    low, high = (f"{100 * share:.1f}" for share in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low} to {high} %"


def own_orders_sentence(found: CheckReport) -> str:
    """Whether inputs are rejected in the orders of measures, too, which the answer is not told of, plain text; "" while
    examples are to come, and where none is tested. With everything masked the inputs are those of random order, so that
    nothing is told of this ratio; the rule over all of them is that by which a measure's numbers are marked.
    """
    tested = [line for line in found.measured if CALIBRATED in line.gates and line.gates[CALIBRATED].available]
    if not tested or not found.measured_tally.settled or found.n < FEW:
        return ""
    most = max(tested, key=lambda line: line.share(CALIBRATED)[:-1].max())
    k = int(most.rejected[CALIBRATED][:-1].argmax())
    p = {line.curve.label: _held_against(line)[:-1] for line in tested}
    rule = rule_text(tested[0].gates[CALIBRATED].rule, f"all {len(X)} ratios", "ratio")
    where = {name: np.flatnonzero([significant(one) for one in of.tolist()]) for name, of in p.items()}
    marked, others = ([name for name in p if bool(len(where[name])) is out] for out in (True, False))
    of = joined([f"{name} {ratios_in_words(where[name])}" for name in marked] or list(p))
    smallest = p_value(min(float(one.min()) for one in p.values()))
    over = f"{SIGN} {OUT} ({rule})" if marked else f"not {OUT} (smallest {smallest}; {rule})"
    rest = f", those of {joined(others)} are not" if marked and others else ""
    return (
        f"Masked in measures’ own orders, up to {share_text(X[-2])}, at most {most.rejected[CALIBRATED][k]:,} of "
        f"{most.n:,} texts are rejected ({most.curve.label}, {share_text(X[k])} masked). Inputs in the orders of {of} "
        f"are {over}{rest}.{own_as_held_out(found, marked)}"
    )


def _held_against(line: CurveFigures) -> np.ndarray:
    """The p-values of a curve as they are held against 5 % by the rule that marks its numbers."""
    p = line.p[CALIBRATED]
    return holm_adjusted(p) if line.gates[CALIBRATED].rule == HOLM else p


def own_as_held_out(found: CheckReport, marked: Sequence[str]) -> str:
    """Whether texts in these measures' orders are rejected more often than held-out texts masked at random are, a
    further sentence; "" where nobody knows.
    """
    if found.held_out is None or found.held_out.unmasked or not marked:
        return ""
    held, m = np.array(found.held_out.rejected), found.held_out.m
    lines = [line for line in found.measured if line.curve.label in marked]
    # By the same rule as random order, over all ratios: else one count would say two things.
    more = {one.curve.label: more_often(one.rejected[CALIBRATED], one.n, held, m)[1:-1].any() for one in lines}
    above = [name for name, often in more.items() if often]
    often = (
        f"rejected more often than its own held-out texts masked at random are (Fisher’s exact test, Holm over all "
        f"{len(X)} ratios)"
    )
    these = "this order" if len(lines) == 1 else "these orders"
    upto = f" Up to {share_text(X[-2])} masked, texts in"
    if not above:
        return f"{upto} {these} are not shown to be {often}: the test itself may be why."
    of = these if len(above) == len(lines) else f"the order{'s' * (len(above) > 1)} of {joined(above)}"
    return f"{upto} {of} are {often}."

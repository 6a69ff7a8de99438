"""⚠: which numbers rest on inputs that are rejected as out-of-distribution, and how the sign is written."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from core.mathematics.masking import RATIOS, masked_count
from core.mathematics.statistics import ALPHA, holm
from core.network.features import FIRST
from core.terms import MASF_P
from core.validity.references import CALIBRATED, Reference
from core.wording import amount

SIGN = "⚠"
# Fewest texts to a reference that decides eleven tests at once: 220 of them are on its last level.
ENOUGH = 486
PERCENT = f"{100 * ALPHA:.0f} %"
OUT = "rejected as out-of-distribution"
UNAVAILABLE = "unavailable"
# What a page or a file says of its signs.
MEANING = f"{SIGN} marks numbers from inputs {OUT}."
KEY = f"{SIGN} from inputs {OUT}"
ONE_INPUT = f"{SIGN} marks texts {OUT}."
LATER = f"{SIGN}\ufe0e rejected here or before"
# Of single inputs of a file, see `step_cells`.
STEP_COLUMNS = [OUT, "at or after the first rejected step", "rule of the gate", "form of the gate"]


class Why(StrEnum):
    """Why the test says nothing about an input, and, the last five, why what it says may be off."""

    NO_REFERENCE = "no reference"
    TOO_FEW = "too few texts"
    FLOOR = "floor"
    LENGTH = "other lengths"
    PRECISION = "other precision"
    UNIT = "other units"
    TEXTS = "other texts"
    SMALL = "small reference"


# ---- what is marked


def alone(p: np.ndarray) -> np.ndarray:
    """Which p-values reject by themselves at 5 %: bool of the same shape."""
    return np.asarray(p) < ALPHA


@dataclass(frozen=True)
class Rule:
    """How the p-values of distinct inputs reject: `reject(p float64[n], planned)` → bool[n]; `level(planned)`: what the
    smallest p must be below for that; about: what it does, in words.
    """

    reject: Callable[[np.ndarray, int], np.ndarray]
    level: Callable[[int], float]
    about: str
    # Whether each rejection leaves one test less to divide 5 % by.
    step_down: bool = False


HOLM, PLAIN = "Holm", "plain"
RULES = {
    HOLM: Rule(
        holm, lambda planned: ALPHA / planned, f"at most {PERCENT} chance of any false rejection", step_down=True
    ),
    PLAIN: Rule(lambda p, planned: alone(p), lambda planned: ALPHA, f"each {MASF_P} against {PERCENT}"),
}


@dataclass(frozen=True, eq=False)
class Gate:
    """What the tests of K inputs say, the steps of a path or a set.

    why: None where the test can reject, else why it says nothing: no reference, "floor" (its smallest p is 0.05 or
    more) or "too few texts" (its smallest p is not below what the rule asks of so many inputs).
    cut: what lies between the p-values that are rejected and the others, so that it is what a figure draws;
    rejected: bool[K]; first: the first rejected step, from which on every number is marked, or None;
    threshold: what the smallest p must be below; steps: tests that are planned; tested: bool[K], where only some steps
    of a path are tested, since the reference is too small for all of them, else None.
    """

    why: Why | None
    rejected: np.ndarray
    first: int | None
    rule: str
    threshold: float
    steps: int
    tested: np.ndarray | None = None
    cut: float = ALPHA

    @property
    def available(self) -> bool:
        return self.why is None

    @property
    def marked(self) -> bool:
        """Whether a number that rests on all of these inputs is marked."""
        return self.first is not None

    def beyond(self, step: int) -> bool:
        """Whether a number of this step rests on an input at or after the first rejected one."""
        return self.first is not None and step >= self.first


def decide(p: np.ndarray, inputs: np.ndarray, planned: int, floor: float | None, rule: str = HOLM) -> Gate:
    """Decide over the steps of one masking path, or over a set of inputs.

    Steps that mask the same features are one input and one test. Inputs that are not computed yet
    count as not rejected, and what is rejected stays rejected when they come. The test can only
    reject: a step that is not rejected may be out-of-distribution all the same.

    Args:
        p: float[K], p-values of the steps computed so far, in order.
        inputs: int[K], equal for steps that mask the same features.
        planned: distinct inputs of the whole path.
        floor: the smallest p that the reference can give; None without a reference.
        rule: of RULES: "Holm" over the planned inputs, or "plain": each p against 5 % by itself.
    Returns:
        Gate.
    Raises:
        ValueError: an unknown rule, or not one input for each p-value.
    Source: glossary, Gate; FMM §3.3 tests each masking ratio by itself, the plain rule.
    """
    if rule not in RULES:
        raise ValueError(f"rule must be one of {tuple(RULES)}, got {rule!r}")
    if len(p) != len(inputs):
        raise ValueError(f"{len(p)} p-values, but {len(inputs)} inputs")
    threshold = RULES[rule].level(planned)
    why = _why(floor, threshold)
    _, place, back = np.unique(np.asarray(inputs), return_index=True, return_inverse=True)
    distinct = np.asarray(p, dtype=np.float64)[place]
    found = RULES[rule].reject(distinct, planned) if why is None else np.zeros(len(distinct), dtype=bool)
    rejected = found[back.reshape(-1)]
    first = int(np.flatnonzero(rejected)[0]) if rejected.any() else None
    left = max(1, planned - int(found.sum())) if RULES[rule].step_down else planned
    cut = RULES[rule].level(left)
    return Gate(why, rejected, first, rule, threshold, planned, cut=cut)


def decide_path(
    p: np.ndarray,
    counts: np.ndarray,
    planned: np.ndarray,
    reference: Reference | None,
    rule: str = HOLM,
    form: str = CALIBRATED,
    by_ratio: bool = False,
) -> Gate:
    """Decide over a masking path.

    Where a step is a ratio and the reference knows ratios, each step is a test of its own, also where two mask the same
    features: they are compared with other texts. A path of more single features than the reference is large enough for
    is tested at the eleven ratios alone, chosen before any p-value is known.

    Args:
        p: float[K'], of the steps computed so far; counts: int[K'], how many features each of them masks.
        planned: int[K], the same of the whole path.
        reference: None where the model has none.
        by_ratio: whether the steps are the ratios.
    """
    floor, done = None if reference is None else reference.floor(form), len(counts)
    p = np.asarray(p, dtype=np.float64) if reference is not None else np.ones(done)
    own = by_ratio and reference is not None and reference.forms[form].R > 1
    inputs = np.arange(len(planned)) if own else np.asarray(planned)
    gate = decide(p, inputs[:done], len(np.unique(inputs)), floor, rule)
    if gate.why != Why.TOO_FEW or by_ratio:
        return gate
    at = np.maximum([masked_count(ratio, int(planned[-1])) for ratio in RATIOS], planned[0])
    tested = np.isin(counts, at)
    part = decide(p[tested], inputs[:done][tested], len(np.unique(at)), floor, rule)
    if not part.available:
        return gate
    rejected = np.zeros(done, dtype=bool)
    rejected[tested] = part.rejected
    first = int(np.flatnonzero(rejected)[0]) if rejected.any() else None
    return replace(part, rejected=rejected, first=first, tested=tested)


def decide_ratios(p: np.ndarray, floor: float | None, *rules: str) -> Gate:
    """Decide over the masking ratios of a data set, float64[K], by the first rule for which the smallest attainable p
    is small enough: Holm, else each by itself, unless others are given.
    """
    gates = (decide(p, np.arange(len(p)), len(p), floor, rule) for rule in rules or (HOLM, PLAIN))
    return next(gate for gate in gates if gate.why != Why.TOO_FEW)


def _why(floor: float | None, threshold: float) -> Why | None:
    if floor is None:
        return Why.NO_REFERENCE
    if floor >= ALPHA:
        return Why.FLOOR
    return Why.TOO_FEW if floor >= threshold else None


def decides(reference: Reference, form: str = CALIBRATED) -> int:
    """How many tests at once Holm can decide: of so many the smallest attainable p is below 5 % by their number."""
    return int(np.ceil(round(ALPHA / reference.floor(form), 9))) - 1


def small_reference(reference: Reference | None) -> str:
    """How many tests of a path it can decide and how many texts would do, where these are not all; else ""."""
    if reference is None or decides(reference) >= len(RATIOS):
        return ""
    texts, tests, most = reference.about["texts"], decides(reference), len(RATIOS)
    return f"Its {texts} texts decide {tests} of {most} tests at once (Holm); {ENOUGH} texts would do."


def doubts(
    reference: Reference, tokens: np.ndarray, precision: str, unit: str = "word", maskable: str = FIRST
) -> list[Why]:
    """Why p-values may be off.

    Args:
        tokens: int[N], lengths of the texts of a sample, of which one in ten may be unlike the reference's; N = 1: a
            text.
        precision: that the model runs in.
        unit: what is masked as one piece; maskable: in which texts of pairs.
    """
    low, high = reference.about["tokens"][1], reference.about["tokens"][3]
    outside = int(((tokens < low) | (tokens > high)).sum())
    found = {
        # One in ten of the reference's own texts is.
        Why.LENGTH: outside > 0.2 * len(tokens),
        Why.PRECISION: reference.about["precision"] != precision,
        Why.UNIT: unit != "word" and reference.forms[CALIBRATED].R > 1,
        Why.TEXTS: maskable != reference.about.get("maskable", FIRST) and reference.forms[CALIBRATED].R > 1,
        Why.SMALL: decides(reference) < len(RATIOS),
    }
    return [why for why, holds in found.items() if holds]


# ---- how it is drawn: as text, for pages, files and terminals alike; text of others is escaped before


def with_sign(text: str, marked: bool) -> str:
    """A number as drawn, with the sign where it is marked: "0.41 ⚠"."""
    return f"{text} {SIGN}" if marked else text


def yes_or_no(gate: Gate, value: bool | None = None) -> str:
    """ "yes" or "no" for a cell of a file, by default whether a number that rests on all is marked; "unavailable"."""
    return UNAVAILABLE if not gate.available else "yes" if (gate.marked if value is None else value) else "no"


def step_cells(gate: Gate, step: int, form: str) -> list[str]:
    """What a file says of one input, see STEP_COLUMNS."""
    untested = gate.tested is not None and not gate.tested[step]
    return [
        "not tested" if untested else yes_or_no(gate, bool(gate.rejected[step])),
        yes_or_no(gate, gate.beyond(step)),
        gate.rule,
        form,
    ]


def path_word(gate: Gate, name: Callable[[int], str], complete: bool = True) -> str:
    """The same for a cell of a table."""
    if gate.first is not None:
        return f"{SIGN} rejected from {name(gate.first)} on"
    return "not rejected" + ("" if complete else " so far") if gate.available else UNAVAILABLE


def level_text(gate: Gate) -> str:
    """What is written beside the line that a figure draws at `gate.cut` or `gate.threshold`: "Holm over 11 tests"."""
    return PERCENT if gate.threshold == ALPHA else f"{gate.rule} over {amount(gate.steps, 'test')}"

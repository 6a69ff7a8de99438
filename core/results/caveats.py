"""The caveats of the whole app: each a badge, an explanation, a severity and where the glossary defines it."""

from collections.abc import Iterable, Mapping
from enum import Enum, StrEnum


class Severity(StrEnum):
    """How much a caveat weighs. BLOCKS: no verdict is given while it holds."""

    INFO = "info"
    WARNING = "warning"
    BLOCKS = "blocks a verdict"


class Caveat(Enum):
    """What limits a result: (badge of at most three words, explanation of at most 25, severity, heading of the
    glossary in core/README.md).
    """

    OUT_OF_DISTRIBUTION = (
        "out-of-distribution",
        "MaSF rejects masked inputs behind this result, so predictions on them say little about the words.",
        Severity.WARNING,
        "Gate",
    )
    NOT_TESTED = (
        "not tested",
        "MaSF did not test the inputs behind this result. The command python -m core reference fits what it needs.",
        Severity.WARNING,
        "MaSF",
    )
    LENGTH_OUTSIDE_REFERENCE = (
        "unusual length",
        "The text is shorter or longer than nine of ten reference texts, which alone can shift its MaSF p-value.",
        Severity.WARNING,
        "MaSF",
    )
    OTHER_PRECISION = (
        "other precision",
        "The MaSF reference was computed in another precision than the model runs in, which alone can shift p-values.",
        Severity.WARNING,
        "MaSF",
    )
    OTHER_UNIT = (
        "other unit",
        "The MaSF reference was made by masking words; another unit is masked here, which alone can shift p-values.",
        Severity.WARNING,
        "MaSF",
    )
    TRUNCATED = (
        "truncated",
        "The model reads the beginning of this text only; words beyond its limit are neither scored nor masked.",
        Severity.WARNING,
        "Feature",
    )
    UNKNOWN_WORDS = (
        "unknown words",
        "The tokenizer does not know some words of this text, so the model cannot tell them apart.",
        Severity.WARNING,
        "Feature",
    )
    SINGLE_FEATURE = ("single feature", "One feature has no ranking to judge.", Severity.BLOCKS, "Feature")
    OWN_TEXT = (
        "own text",
        "Nobody sampled this text like the reference texts; an input that is not rejected need not be in-distribution.",
        Severity.INFO,
        "MaSF",
    )
    PARTIAL = (
        "partial",
        "Not everything is computed yet, or computing was stopped; the result can change.",
        Severity.BLOCKS,
        "Verdict",
    )
    FEW_TEXTS = ("few texts", "Too few texts have a value for a conclusion over the data.", Severity.BLOCKS, "Verdict")
    SELECTED = (
        "picked by outcome",
        "The filter picks examples by what the model does, so results here say more about the filter than the model.",
        Severity.WARNING,
        "Verdict",
    )
    FEW_ORDERS = (
        "few orders",
        "So few orders are possible or were drawn that no p-value can be small enough.",
        Severity.BLOCKS,
        "Verdict",
    )
    NARROW_LIMITS = (
        "narrow limits",
        "The best and the worst order reach almost the same score, so no order can be shown to be better.",
        Severity.BLOCKS,
        "Exact limits",
    )
    LIMITS_SEARCHED = (
        "limits searched",
        "The limits were found by a search; the true ones may lie further apart.",
        Severity.INFO,
        "Insertion search",
    )
    UNSTABLE = (
        "unstable",
        "Another seed, more samples or a harmless edit changes the top word, or RACU divides by an area near 0.",
        Severity.WARNING,
        "Stability",
    )
    UNSIGNED_MEASURE = (
        "no sign",
        "This measure cannot tell words that support the class from words that oppose it, which lowers its scores.",
        Severity.INFO,
        "Importance measures",
    )
    MEASURE_USES_MASKING = (
        "masks to score",
        "This measure scores words by masking them, as the test does, which favours it by an unknown amount.",
        Severity.INFO,
        "Verdict",
    )
    DIFFERENT_AMOUNTS = (
        "unequal amounts",
        "Soft metrics keep more or less of a text for measures than for the baseline; shuffled ones keep as much.",
        Severity.WARNING,
        "Diagnosticity",
    )
    OTHER_CLASSES = (
        "different classes",
        "The two models explain different classes, so their scores are not compared.",
        Severity.WARNING,
        "Score",
    )
    LABEL_ORDER_DOUBTFUL = (
        "label order doubtful",
        "The model's class names were matched to the data's labels by order, which may be wrong.",
        Severity.WARNING,
        "Score",
    )
    NOT_ABOVE_MAJORITY = (
        "not above majority",
        "The model is not shown to do better here than always answering one class.",
        Severity.WARNING,
        "Score",
    )

    def __init__(self, badge: str, explanation: str, severity: Severity, anchor: str):
        self.badge, self.explanation, self.severity, self.anchor = badge, explanation, severity, anchor


def holding(found: Mapping[Caveat, bool]) -> list[Caveat]:
    """The caveats that hold."""
    return [caveat for caveat, holds in found.items() if holds]


def in_order(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """Each caveat once, in the order of the enumeration."""
    found = set(caveats)
    return tuple(one for one in Caveat if one in found)

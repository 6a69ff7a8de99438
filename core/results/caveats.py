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
        "MaSF rejects masked inputs behind this result, so it proves little.",
        Severity.WARNING,
        "Gate",
    )
    NOT_TESTED = (
        "not tested",
        "MaSF did not test these inputs; fit a reference with python -m core reference.",
        Severity.WARNING,
        "MaSF",
    )
    SMALL_REFERENCE = (
        "small reference",
        "The MaSF reference decides too few tests at once (Holm); 486 texts decide 11.",
        Severity.WARNING,
        "Gate",
    )
    LENGTH_OUTSIDE_REFERENCE = (
        "unusual length",
        "Length outside the middle 90 % of reference texts, which can shift the MaSF p.",
        Severity.WARNING,
        "MaSF",
    )
    OTHER_PRECISION = (
        "other precision",
        "The MaSF reference has another precision than the model, which can shift p-values.",
        Severity.WARNING,
        "MaSF",
    )
    OTHER_UNIT = (
        "other unit",
        "The MaSF reference masks words, not this unit, which can shift p-values.",
        Severity.WARNING,
        "MaSF",
    )
    OTHER_TEXTS = (
        "other text masked",
        "The MaSF reference masks other texts of pairs, which can shift p-values.",
        Severity.WARNING,
        "MaSF",
    )
    TRUNCATED = (
        "truncated",
        "The model reads only the beginning of this text; the rest is neither scored nor masked.",
        Severity.WARNING,
        "Feature",
    )
    UNKNOWN_WORDS = (
        "unknown words",
        "Some words are unknown to the tokenizer, so the model cannot distinguish them.",
        Severity.WARNING,
        "Feature",
    )
    TYPED_SPECIAL = ("typed special", "Read as a separator; use the second text instead.", Severity.WARNING, "Feature")
    SINGLE_FEATURE = ("single feature", "No ranking to judge; unit token may give more.", Severity.BLOCKS, "Feature")
    OWN_TEXT = (
        "own text",
        "This text was not sampled like the reference texts; unrejected inputs may still be out-of-distribution.",
        Severity.INFO,
        "MaSF",
    )
    PARTIAL = (
        "partial",
        "Computation is unfinished or was stopped; the result can change.",
        Severity.BLOCKS,
        "Verdict",
    )
    FEW_TEXTS = ("few texts", "Too few texts have a value for a conclusion.", Severity.BLOCKS, "Verdict")
    SELECTED = (
        "picked by outcome",
        "The filter selects by the model's behaviour, which biases results.",
        Severity.WARNING,
        "Verdict",
    )
    MEANING = (
        "meaning may change",
        "Substitutes are neighbours in the input embeddings; antonyms are among them.",
        Severity.WARNING,
        "Attacks",
    )
    FEW_ORDERS = (
        "few orders",
        "Too few orders exist or were drawn for a significant p-value.",
        Severity.BLOCKS,
        "Verdict",
    )
    NARROW_LIMITS = (
        "narrow limits",
        "The best and worst order score almost alike, so none can be shown better.",
        Severity.BLOCKS,
        "Exact limits",
    )
    FLAT = ("no effect", "All attributions are zero; the output does not depend on the text.", Severity.BLOCKS, "Score")
    LIMITS_SEARCHED = (
        "limits searched",
        "The limits were found by a search; the exact ones may lie further apart.",
        Severity.INFO,
        "Insertion search",
    )
    SET_SEARCHED = ("not proven smallest", "Found by beam search.", Severity.INFO, "Smallest sets")
    UNSTABLE = (
        "unstable",
        "Seed, samples or a harmless edit changes the top word, or RACU divides by almost 0.",
        Severity.WARNING,
        "Stability",
    )
    UNSIGNED_MEASURE = (
        "no sign",
        "It cannot separate supporting from opposing words, which lowers its scores.",
        Severity.INFO,
        "Importance measures",
    )
    MEASURE_USES_MASKING = (
        "masks to score",
        "It masks words, as the test does, which favours it.",
        Severity.INFO,
        "Verdict",
    )
    DIFFERENT_AMOUNTS = (
        "unequal amounts",
        "Soft metrics keep different amounts of text for measures and baseline; shuffled baselines keep equal amounts.",
        Severity.WARNING,
        "Diagnosticity",
    )
    OTHER_CLASSES = (
        "different classes",
        "The models explain different classes, so their scores are not compared.",
        Severity.WARNING,
        "Score",
    )
    LABEL_ORDER_DOUBTFUL = (
        "label order doubtful",
        "Classes were matched to the data's labels by order, which may be wrong.",
        Severity.WARNING,
        "Score",
    )
    LABELS_EXCHANGED = ("labels exchanged?", "Another reading fits far better; see notes.", Severity.WARNING, "Score")
    CALIBRATED = (
        "calibrated",
        "A linear head repairs this model's masked predictions; its hidden states are as before.",
        Severity.INFO,
        "Calibration",
    )
    SEVERAL_LABELS = ("several labels", "A sigmoid for each label; one is explained.", Severity.WARNING, "Score")
    A_NUMBER = ("a number", "Regression, read as classes.", Severity.WARNING, "Score")
    CLASS_LEAKAGE = (
        "class leakage",
        "Performance rises with masking; which words are masked reveals the class to retrained models.",
        Severity.WARNING,
        "ROAR",
    )
    STAND_IN = (
        "no mask token",
        "End of sequence masks words; without masked fine-tuning the model may misread it.",
        Severity.WARNING,
        "Mask",
    )
    NOT_ABOVE_MAJORITY = (
        "not above majority",
        "The model is not significantly better here than always answering one class.",
        Severity.WARNING,
        "Score",
    )

    def __init__(self, badge: str, explanation: str, severity: Severity, anchor: str):
        self.badge, self.explanation, self.severity, self.anchor = badge, explanation, severity, anchor
        self.line = f"{badge}: {explanation}"


def holding(found: Mapping[Caveat, bool]) -> list[Caveat]:
    """The caveats that hold."""
    return [caveat for caveat, holds in found.items() if holds]


def in_order(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """Each caveat once, in the order of the enumeration."""
    found = set(caveats)
    return tuple(one for one in Caveat if one in found)

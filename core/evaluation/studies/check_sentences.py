"""How often the test of a reference rejects what it should not, in a sentence."""

from collections.abc import Sequence

from core.validity.marks import PERCENT
from core.validity.references import CALIBRATED, Reference
from core.wording import amount


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


def spread_text(shares: Sequence[float]) -> str:
    """Shares by their ends, "5.7 to 8.6 %"; one where both read alike."""
    low, high = (f"{100 * share:.1f}" for share in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low} to {high} %"

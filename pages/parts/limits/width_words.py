"""How wide a beam must be, in words; no Streamlit."""

from core.mathematics.search.limits import STILL, BeamStudy
from core.wording import number


def study_line(study: BeamStudy, name: str, complete: bool) -> str:
    """What is known of how wide a beam must be, in a sentence or two: that limits stand still is no proof."""
    widest, several = study.widths[-1], len(study.known) > 1
    if study.settled and study.known.all():
        return (
            f"On {name} a beam of {study.recommended} is enough: its {'mean ' * several}limits lie within {STILL:g} of "
            "the exact ones."
        )
    if study.settled:
        return (
            f"On {name} the {'mean ' * several}limits stand still from a beam of {study.recommended} on: with "
            f"{study.widths[-2]} and {widest} they move by less than {STILL:g} each time. {_compared_exactly(study)}"
        )
    if not complete:
        lower, upper = (number(float(limits[:, -1].mean())) for limits in (study.lower, study.upper))
        return f"On {name} the mean limits lie between {lower} and {upper} with a beam of {widest}, so far."
    if study.missed(-1) >= STILL:
        return (
            f"On {name} a beam of {widest}, the widest that is tried, is not enough: exact limits lie "
            f"{number(study.missed(-1))} further out."
        )
    return (
        f"On {name} the mean limits still move with a beam of {widest}, the widest that is tried: exact limits would "
        "tell more."
    )


def _compared_exactly(study: BeamStudy) -> str:
    """What is known of limits that stand still, beside that."""
    missed = "Exact ones may lie further out: what matters only together a beam can miss."
    if not study.known.any():
        return f"{missed} They are too dear here to compare with."
    return (
        f"On {int(study.known.sum())} of {len(study.known)} texts exact limits are affordable, and lie no more than "
        f"{STILL:g} further out on average. On the others: {missed[0].lower()}{missed[1:]}"
    )

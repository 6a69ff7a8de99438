"""What favours or harms a measure, as sentences of studies over texts, and how a verdict can be wrong."""

from collections.abc import Iterable

from core.measures.catalogue import measures
from core.measures.registry import ORACLE
from core.validity.marks import PERCENT
from core.wording import joined

# How a verdict can be wrong.
ERROR_RATE = (
    f"Were every measure a random attribution, on at most {PERCENT} of such texts one of them would be called better "
    f"than chance, and on at most {PERCENT} one worse: each tail is tested at {PERCENT}, by Holm over the measures."
)


def suits_sentence(names: Iterable[str], how: str = "as the chance test does") -> str:
    """Which measures are made as they are tested, beside others that are not, text; "" where none is, or all are; how:
    they are tested.

    Source: FMM §6, on leave-one-out and RACU.
    """
    known = [measures()[name] for name in names if name in measures()]
    own = [one.name for one in known if one.needs == ORACLE]
    if not own or len(own) == sum(not one.baseline for one in known):
        return ""
    masks, them = ("masks", "it") if len(own) == 1 else ("mask", "them")
    return f"{joined(own)} {masks} words to score them, {how}: that favours {them}, and by how much is not known."


def unsigned_sentence(names: Iterable[str], sign: str) -> str:
    """Which measures do not tell what supports the class from what opposes it, beside others that do, text; "" where
    none is such, all are, or absolute values are asked for.
    """
    known = [measures()[name] for name in names if name in measures()]
    rankers = [one for one in known if not one.baseline]
    without = [one.name for one in rankers if not one.signed and not one.rank_only]
    if sign != "signed" or not without or len(without) == len(rankers):
        return ""
    has, them = ("has", "it") if len(without) == 1 else ("have", "them")
    first = f"{joined(without)} {has} no sign, so that words against the class stand first, too"
    return f"{first}: that counts against {them}."

"""How faithful an explanation is, beside it: scores of rows, and what they say of a word on which rows part."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.explanation.rows import WordRow
from core.explanation.standings import COMPREHENSIVENESS, StandingTable
from core.mathematics.aopc import naopc
from core.mathematics.ranking import LEVEL, are_level
from core.measures.catalogue import measures
from core.network.features import Encoded, placed_word
from core.validity.marks import SIGN, with_sign
from core.wording import escaped, joined, number

# A word on which measures part: each calls it at least this share of its own largest value.
PARTED = 0.1


@dataclass(frozen=True)
class RowScore:
    """RACU ↑ and NAOPC of comprehensiveness ↑ of a measure, NaN where undefined and None where not known; marked: which
    rest on rejected inputs; unstable: RACU's denominator may be 0; untested: why no input could be rejected, a
    sentence, "" where it could; better: whether its order is better than chance, None where that cannot be told or is
    not known.
    """

    racu: float | None = None
    naopc: float | None = None
    racu_marked: bool = False
    naopc_marked: bool = False
    unstable: bool = False
    untested: str = ""
    better: bool | None = None

    @property
    def ranks(self) -> bool:
        """Whether its RACU may be compared with another's on the same text."""
        return self.racu is not None and not math.isnan(self.racu) and not self.unstable and not self.racu_marked


def parted_word(rows: Sequence[WordRow]) -> tuple[int, WordRow, WordRow] | None:
    """The feature that one row calls strongest for the class while another calls it against: (feature, the row for it,
    the row against it); None where rows with a sign part on none.
    """
    signed = [row for row in rows if row.kind == "signed" and not measures()[row.measure].baseline]
    if len(signed) < 2:
        return None
    for_it, against = max, min
    found = [
        (for_it(signed, key=lambda row: row.shades[i]), against(signed, key=lambda row: row.shades[i]))
        for i in range(len(signed[0].shades))
    ]
    strength = [min(one.shades[i], -other.shades[i]) for i, (one, other) in enumerate(found)]
    i = max(range(len(strength)), key=strength.__getitem__)
    return (i, *found[i]) if strength[i] >= PARTED else None


def parted_sentence(rows: Sequence[WordRow], encoded: Encoded, class_name: str) -> str:
    """On which word the rows part, HTML in which all text is escaped; "" where on none."""
    parted = parted_word(rows)
    if parted is None:
        return ""
    i, one, other = parted
    first, second, word = escaped(one.measure), escaped(other.measure), placed_word(encoded.features, i)
    supports = f"{first} says that it supports <b>{escaped(class_name)}</b>"
    return f"On {word} the measures disagree: {supports}, {second} that it opposes it."


def parting_sentence(rows: Sequence[WordRow], scores: Mapping[str, RowScore], encoded: Encoded, class_name: str) -> str:
    """On which word the rows part, and whose order masking bears out on this text, HTML in which all text is escaped;
    "" where they part on none or a score is not known yet.

    No order is called the more faithful before both scores of both are known, nor where these rest on rejected inputs,
    are undefined or equal, or disagree, nor before it is known to be better than chance; where no input could be
    rejected, that is said with it.
    """
    parted = parted_word(rows)
    if parted is None:
        return ""
    _, one, other = parted
    mine, its = scores.get(one.measure, RowScore()), scores.get(other.measure, RowScore())
    if mine.racu is None or its.racu is None:
        return ""
    verdict = _verdict((escaped(one.measure), mine), (escaped(other.measure), its))
    return f"{parted_sentence(rows, encoded, class_name)} {verdict}" if verdict else ""


def _verdict(one: tuple[str, RowScore], other: tuple[str, RowScore]) -> str:
    """The end of the sentence; "" while NAOPC is on its way and the lead may turn."""
    (_, mine), (_, its) = one, other
    cannot, do_not = (
        f"RACU and NAOPC {not_so} say which of the two to believe here" for not_so in ("cannot", "do not")
    )
    if any(score.racu_marked or score.naopc_marked for score in (mine, its)):
        return f"{SIGN} {cannot}: some of the masked inputs are rejected."
    # Scores are not needed where only one of the two does better than chance.
    judged = {score.better: name for name, score in (one, other)}
    alone = judged.keys() == {True, False}
    only = f"Of the two only the order of {judged[True]} is better than chance on this text." if alone else ""
    if only and (not (mine.ranks and its.ranks) or math.isnan(mine.naopc or 0.0) or math.isnan(its.naopc or 0.0)):
        return only
    if not (mine.ranks and its.ranks) or mine.racu is None or its.racu is None:
        why = "unstable" if mine.unstable or its.unstable else "not defined"
        return f"{cannot}: RACU is {why} on this text, and NAOPC alone does not decide."
    told = f"RACU ↑ {number(mine.racu)} of {one[0]}, {number(its.racu)} of {other[0]}"
    if number(mine.racu) == number(its.racu):
        return f"{do_not}: their areas are equal ({told})."
    if mine.naopc is None or its.naopc is None:
        return ""
    if math.isnan(mine.naopc) or math.isnan(its.naopc):
        return f"{cannot}: NAOPC is not defined on this text."
    ahead, behind = (one, other) if mine.racu > its.racu else (other, one)
    more, less = (score.naopc or 0.0 for _, score in (ahead, behind))
    if number(more) == number(less):
        return f"{do_not}: {ahead[0]} is ahead by RACU ({told}), and by NAOPC they are equal ({number(more)} ↑)."
    # Limits that a search found are not to be trusted that far either.
    if are_level(more - less):
        level = f"{number(more)} ↑ and {number(less)}, less than {LEVEL:g} apart"
        return f"{do_not}: {ahead[0]} is ahead by RACU ({told}), and by NAOPC they are level ({level})."
    if more < less:
        return (
            f"{do_not}: {ahead[0]} is ahead by RACU ({told}), {behind[0]} by NAOPC "
            f"({number(less)} ↑ against {number(more)})."
        )
    # The one that is ahead comes first, as it does in what follows.
    told = f"RACU ↑ {number(ahead[1].racu or 0.0)} of {ahead[0]}, {number(behind[1].racu or 0.0)} of {behind[0]}"
    named = (
        f"Masked in the order of {ahead[0]} the explained score falls faster, computed again at each step ({told}) and "
        f"as coloured here (NAOPC {number(more)} ↑ against {number(less)}){_CLAIMS[ahead[1].better]}"
    )
    return f"{named} {mine.untested or its.untested}".rstrip()


# What may be said of the order that is ahead, by whether it is better than chance.
_CLAIMS = {
    True: ", so by these two that order is the more faithful one on this text; of the single word this says nothing.",
    False: "; but it is not shown to do better than random orders of the same words: so which to believe is not said.",
    None: ". Whether it does better than chance is not known here: “which measures to believe” asks that.",
}


def bridge_sentence(rows: Sequence[WordRow], scores: Mapping[str, RowScore]) -> str:
    """Why RACU and NAOPC put different measures first, HTML in which all text is escaped; "" where they agree, or one
    of the scores is not there yet, undefined or marked.
    """
    ranked = [row.measure for row in rows if not measures()[row.measure].baseline]
    known = [(name, scores[name]) for name in ranked if _both(scores.get(name, RowScore()))]
    if len(known) < len(ranked) or len(known) < 2:
        return ""
    racu = {name: one.racu or 0.0 for name, one in known}
    between = {name: one.naopc or 0.0 for name, one in known}
    first, second = max(racu, key=racu.__getitem__), max(between, key=between.__getitem__)
    if first == second:
        return ""
    return (
        f"By RACU {escaped(first)} is ahead ({number(racu[first])} ↑), by NAOPC {escaped(second)} "
        f"({number(between[second])} ↑): RACU masks in the order of a measure that is computed again at each step, "
        "NAOPC in the order coloured here. The first asks how well a measure finds what matters next, the second how "
        "good these colours are."
    )


def reach_text(table: StandingTable) -> str:
    """What NAOPC random orders reach, text without an end: what one must be held against; "" where it is not known."""
    chance, limits = table.chance, table.limits
    if chance is None or math.isnan(chance.naopc):
        return ""
    low, high = (number(naopc(end, limits.lower, limits.upper)) for end in (chance.low, chance.high))
    ends = with_sign(f"{low} to {high}", table.chance_marked(True))
    return f"Random orders of these words reach a NAOPC of {ends} (the middle 95 % of {chance.name})"


def reach_sentence(table: StandingTable, scores: Mapping[str, RowScore], anew: bool = False) -> str:
    """Why orders that are no better than chance may have a high NAOPC, and a high RACU, HTML in which all text is
    escaped; "" where none is known to be no better, or the random orders are not there. anew: whether it is told
    already that RACU is of another order.
    """
    failing = {name: one for name, one in scores.items() if one.better is False and _known(one.naopc)}
    reach = reach_text(table)
    if table.chance is None or not failing or not reach:
        return ""
    told = {name: f"<b>{escaped(name)}</b> ({number(one.naopc or 0.0)})" for name, one in failing.items()}
    reached = {one.measure: one.aopc[COMPREHENSIVENESS] for one in table.standings if one.measure in failing}
    low, high = table.chance.low, table.chance.high
    parts = [
        (lambda aopc: low <= aopc <= high, "within that"),
        (lambda aopc: aopc < low, "below that"),
        (lambda aopc: aopc > high, "above that, as one of several measures may by luck"),
    ]
    said = [
        f"{joined(those)} {'lies' if len(those) == 1 else 'lie'} {where}"
        for lies, where in parts
        if (those := [told[name] for name, aopc in reached.items() if lies(aopc)])
    ]
    ahead = not anew and any(one.ranks and (one.racu or 0.0) > 0 for one in failing.values())
    other = " RACU masks in another order: the measure is asked again after each step." * ahead
    return f"{reach}: {'; '.join(said)}.{other}"


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def _both(score: RowScore) -> bool:
    """Whether both scores are known, defined and unmarked."""
    return score.ranks and _known(score.naopc) and not score.naopc_marked

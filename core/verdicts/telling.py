"""What verdicts say: the page's sentence, as HTML in which all text is escaped, cells of tables, lines of files."""

import math
from collections.abc import Iterable

from core.explanation.standings import COMPREHENSIVENESS
from core.mathematics.statistics import significant
from core.measures.catalogue import measures
from core.measures.registry import ORACLE
from core.network.features import Encoded, placed_word
from core.oracle.erasing import MASK
from core.terms import CHANCE
from core.validity.marks import PERCENT, SIGN
from core.verdicts.deciding import FAILS, Cause, Verdict, VerdictReport, Word
from core.verdicts.finding import SIGNS
from core.verdicts.records import least_p, orders_as_good, p_text
from core.wording import amount, aside, escaped, joined, number

# How a verdict can be wrong.
ERROR_RATE = (
    f"Were every measure a random attribution, on at most {PERCENT} of such texts one of them would be called better "
    f"than chance, and on at most {PERCENT} one worse: each tail is tested at {PERCENT}, by Holm over the measures."
)
# That a verdict is one of a family.
HANGS = (
    f"The {CHANCE} beside a verdict is adjusted for the number of measures (Holm), so choosing more or fewer can "
    "change it."
)
NO_REFERENCE = "No MaSF reference can test these masked inputs."
COLUMNS = [
    "measure",
    "verdict",
    f"raw {CHANCE} of better ↓",
    f"raw {CHANCE} of worse ↓",
    "AOPC",
    "what is known of why",
]


def chance_text(p: tuple[float, float], arrow: str = "") -> str:
    """The same with its name, where the p-value of an input may stand beside it; arrow: outside of sentences, which say
    in words that lower is better.
    """
    return f"{CHANCE.removesuffix('p')}{said}{arrow}" if (said := p_text(p)) != "—" else said


def verdict_about(one: Verdict) -> str:
    """What stands beside a verdict's word: the p that decided, of being worse where it is worse; where it cannot be
    told for rejected inputs, of which orders these are; "" for nothing.
    """
    if one.told:
        return _p_of(one, " ↓")
    return f"{SIGN} {one.why}" if Cause.REJECTED in one.causes else ""


def verdict_text(one: Verdict) -> str:
    """A verdict with that, for a cell of a table."""
    about = f"({verdict_about(one)})" if one.told else verdict_about(one)
    return f"{one.word.chip} {about}".rstrip()


def believe_sentence(report: VerdictReport, encoded: Encoded, why: bool = True, chances: bool = True) -> str:
    """Which measures to believe on this text, over how many measures, which not and, with `why`, what is known of why
    they part; chances: each with its p, where that does not stand beside each measure.

    A verdict is one of a family: Holm's bound holds for the measures that are looked at together, so that a page judges
    those that are chosen on it, and a text may have two words on two pages. Over one family everywhere a measure that
    nobody looks at would cost others their verdict, or one that is looked at be left out of the bound. So the family
    stands in the sentence itself, wherever there is one; by what it is told stands in `chance_sentence`.
    """
    better, no_better, worse = (_names(report, word, chances) for word in (Word.BETTER, *FAILS))
    said = []
    further = f"the score down {'further' if SIGNS[report.direction] > 0 else 'less'} on average than"
    if better:
        order = "its order" if len(better) == 1 else "their orders"
        taken = f"{_masked(report, order)}, {encoded.unit}s take {further} in random orders"
        said.append(f"Believe {joined(better)} here{_of_them(report)}: {taken}")
    elif no_better or worse:
        # What is not rejected is not shown to be no better.
        erased = f", with {encoded.unit}s {_erased(report)}" * (report.erasure != MASK)
        one = report.planned == 1
        none = "This order is <b>not</b>" if one else f"<b>None</b> of these {report.planned} orders is"
        wrong = "" if worse else f"; that does not show {'it' if one else 'them'} wrong"
        said.append(
            f"{none} shown to do better than chance here{erased}, that is, to take {further} random orders do"
            f"{_least_p(report) * chances}{wrong}"
        )
    several = ["Two that are better than chance need not agree."] * (len(better) > 1)
    said += [f"{joined(no_better)} {_are(no_better)} not shown to do better than chance"] * bool(no_better and better)
    said += [f"{joined(worse)} {_does(worse)} worse than chance"] * bool(worse)
    told = [f"{'; '.join(said)}."] if said else []
    return " ".join([*told, *several, *_untold(report, not said), *_reasons(report, encoded) * why, *_marks(report)])


def beside_sentence(report: VerdictReport, model: str) -> str:
    """The same in short, of one model beside another, HTML in which all text is escaped."""
    under, better = f"Under <b>{escaped(model)}</b>", _names(report, Word.BETTER)
    if better:
        return f"{under} believe {joined(better)}."
    if any(one.told for one in report.verdicts):
        return f"{under} none is shown to do better than chance."
    why = dict.fromkeys(str(one.why or "") for one in report.verdicts)
    said = f": {_lower(next(iter(why)))}" if len(why) == 1 else "."
    return f"{under} which to believe <b>cannot be told</b>{said}"


def why_sentence(report: VerdictReport, encoded: Encoded) -> str:
    """What is known of why measures part; "" for nothing."""
    return " ".join(_reasons(report, encoded))


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


def favoured_sentence(report: VerdictReport) -> str:
    """What favours measures that are believed, and what counts against others, small print as HTML; "" for none."""
    names, better = [one.measure for one in report.verdicts], [one.measure for one in report.those(Word.BETTER)]
    # What is believed without a sign has had no harm from that.
    harmed = [name for name in names if name not in better or measures()[name].signed]
    against = unsigned_sentence(harmed, report.sign) if report.direction == COMPREHENSIVENESS else ""
    spared = [name for name in names if name not in harmed and not measures()[name].rank_only]
    if against and spared:
        though = f", though {joined(spared)} {_are(spared)} better than chance here."
        against = f"{unsigned_sentence(names, report.sign).removesuffix('.')}{though}"
    # What favours a measure explains nothing where it is not believed.
    suits = suits_sentence(names) if any(measures()[name].needs == ORACLE for name in better) else ""
    return aside(" ".join(filter(None, [suits, against]))) if better else ""


def chance_sentence(report: VerdictReport) -> str:
    """What orders were compared with, and how it can be wrong, text."""
    stopped = "" if report.null.complete else "; with these no verdict can change any more, so no more are drawn"
    many = report.null.rough
    was, lies = ("was", "it lies") if many == 1 else ("were", "they lie")
    scored = f"{many:,} of them {was} scored in half precision, which is faster and rounds more:"
    far = f" {scored} {lies} much farther from every measure than such rounding was seen to reach." if many else ""
    against = f"Each order is set against {report.orders} of the same features{stopped}.{far}"
    return f"{told_by(report)} {against}{_least(report)} {ERROR_RATE}".lstrip()


def _least(report: VerdictReport) -> str:
    """The same in a sentence behind others; "" for NaN."""
    if math.isnan(least := least_p(report)):
        return ""
    orders, many = f"{report.null.planned:,} orders", f" for {report.planned} measures" * (report.planned > 1)
    said = f" The smallest {CHANCE} that {orders} allow{many} is {number(least)}"
    return f"{said}: measures that both have it are not told apart by it."


def as_good_text(report: VerdictReport, measure: str, named: bool = True) -> str:
    """How many random orders do at least as well: "1 of 120 random orders", of all orders "2 of the other 119 orders";
    "" where that says nothing. named: whether it says what these are, where no header does.
    """
    count = orders_as_good(report, measure)
    if count is None:
        return ""
    drawn = len(report.null.reached)
    every, kind = report.null.every, " orders" if report.null.every else " random orders"
    orders = (f"the other {drawn - 1:,}" if every else f"{drawn:,}") + kind * named
    return f"{f'{count:,}' if count else 'None'} of {orders}"


def as_good_sentence(report: VerdictReport, measure: str) -> str:
    """How many random orders do at least as well as a measure's own, text; "" where that says nothing."""
    one, count = report.of(measure), orders_as_good(report, measure)
    if one is None or count is None:
        return ""
    alone = one.word == Word.NO_BETTER and significant(one.p[1])
    luck = f"with {report.planned} measures tried that can be luck ({chance_text(one.adjusted)} by Holm)"
    seldom = f": {luck}" if alone else ""
    floor = not count and report.null.complete and not report.null.every
    least = f": {CHANCE} is the smallest that so many allow" * floor
    # The p that stands beside a verdict is no share of the orders.
    own, several = number(one.p[0]), number(one.adjusted[0])
    shared = bool(count) and not alone and one.p[0] == one.p[1] and own != several
    share = f": p = {own} by itself, {several} adjusted for {report.planned} measures" * shared
    return f"{as_good_text(report, measure)} {_do(count)} as well as {measure}{seldom}{least}{share}."


def reason_text(report: VerdictReport, one: Verdict) -> str:
    """Why a verdict cannot be told, or what is known of why the measure fails, text; "" for neither."""
    return str(one.why or ", ".join(one.causes))


def verdict_cells(report: VerdictReport, one: Verdict) -> list[str]:
    """A measure's line under COLUMNS, text."""
    reached = report.reached.get(one.measure)
    aopc = "—" if reached is None else number(reached)
    return [one.measure, verdict_text(one), p_text(one.p), p_text(one.worse), aopc, reason_text(report, one) or "—"]


def _names(report: VerdictReport, word: Word, chances: bool = True) -> list[str]:
    return [f"<b>{escaped(one.measure)}</b>{f' ({_p_of(one)})' * chances}" for one in report.those(word)]


def _p_of(one: Verdict, arrow: str = "") -> str:
    """The p that decided, adjusted for the number of measures."""
    return chance_text(one.adjusted, arrow)


def _least_p(report: VerdictReport) -> str:
    """The smallest p of those that are not shown to be better, in brackets; "" where there is none."""
    known = [one.adjusted for one in report.those(Word.NO_BETTER) if one.adjusted[1] == one.adjusted[1]]
    least = "smallest " * (len(known) > 1)
    by = " by Holm" * (report.planned > 1)
    return f" ({least}{chance_text(min(known))}{by})" if known else ""


def _does(names: list[str]) -> str:
    return _do(len(names))


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def told_by(report: VerdictReport) -> str:
    """By which metric verdicts are told, over how many measures, and how words are erased where that is not the usual
    way, a sentence of text; "" where none is told.
    """
    if not any(one.told for one in report.verdicts):
        return ""
    better = "higher" if SIGNS[report.direction] > 0 else "lower"
    erased = f", {_erased(report)} one by one" * (report.erasure != MASK)
    family = f"adjusted for {report.planned} measures by Holm" if report.planned > 1 else "over one measure alone"
    return f"Told by AOPC {report.direction} ({better} is better){erased}, and {CHANCE} (lower is better), {family}."


def _of_them(report: VerdictReport) -> str:
    """Of how many measures a verdict is told, as a sentence goes on; "" of one alone."""
    return f", of {report.planned} measures" if report.planned > 1 else ""


def _masked(report: VerdictReport, order: str) -> str:
    """What is done to words in an order, as a sentence goes on."""
    first = "most" if SIGNS[report.direction] > 0 else "least"
    return f"{_erased(report)} one by one in {order}, the {first} important first"


def _erased(report: VerdictReport) -> str:
    return "masked" if report.erasure == MASK else f"erased by {escaped(report.erasure)}"


def families_sentence(report: VerdictReport, other: VerdictReport) -> str:
    """What is said of measures in a family that other pages begin with where that is another word: how many random
    orders do as well, p by itself and as either family adjusts it; HTML, "" where no word is another.

    Of more measures Holm asks for a smaller p, so that the words of two families are both right, each of its own.
    """
    both = [(mine, one) for one in other.verdicts if one.told and (mine := report.of(one.measure)) is not None]
    said = [_in_families(report, other, mine, one) for mine, one in both if mine.word != one.word]
    return " ".join([*said, "Report the family of measures that you chose beforehand."]) if said else ""


def _in_families(report: VerdictReport, other: VerdictReport, mine: Verdict, one: Verdict) -> str:
    """The same of one measure: mine, its verdict in the report; one, that in the other family."""
    name = f"<b>{escaped(one.measure)}</b>"
    # Over fewer measures fewer orders are drawn, which alone may turn a p that lies at the level.
    drawn = f" ({other.orders})" * (other.null.planned != report.null.planned)
    over = f"Over the {amount(other.planned, 'measure')} that other pages begin with{drawn}"
    if not mine.told:
        return f"{over} {name} is {one.word} ({_p_of(one)})."
    if Word.WORSE in (mine.word, one.word):
        # The p of being worse is what parts the two, which a verdict of another tail does not carry.
        first, then = (f"{each.word}{f' ({_p_of(each)})' * (each.word == Word.WORSE)}" for each in (mine, one))
        return f"{name} is {first} over {amount(report.planned, 'measure')}. {over} it is {then}."
    count = orders_as_good(report, one.measure)
    first = f"{name} has " if count is None else f"{as_good_text(report, one.measure)} {_do(count)} as well as {name}: "
    adjusted = f"{_bare(mine.adjusted)} adjusted for {amount(report.planned, 'measure')}"
    alone = f"{first}{p_text(mine.p)} by itself, {adjusted}"
    return f"{alone}. {over} it is {_bare(one.adjusted)}, {one.word}: borderline."


def _bare(p: tuple[float, float]) -> str:
    """A p-value whose name stands before it."""
    return p_text(p).removeprefix("p = ")


def _untold(report: VerdictReport, alone: bool) -> list[str]:
    """Of which measures nothing can be told, a sentence for each reason."""
    why: dict[str, list[str]] = {}
    for one in report.those(Word.UNTOLD):
        why.setdefault(str(one.why or ""), []).append(f"<b>{escaped(one.measure)}</b>")
    begins = "Which to believe cannot be told here" if alone and len(why) == 1 else ""
    return [f"{begins or f'Of {joined(names)} it cannot be told'}: {_lower(said)}" for said, names in why.items()]


def _lower(said: str) -> str:
    """A sentence as it goes on behind a colon."""
    return f"{said[:1].lower()}{said[1:]}."


def _reasons(report: VerdictReport, encoded: Encoded) -> list[str]:
    """What is known of why measures fail or part, a sentence each."""
    said = []
    for cause in Cause:
        names = [f"<b>{escaped(one.measure)}</b>" for one in report.verdicts if one.told and cause in one.causes]
        if names and cause == Cause.TOGETHER and report.pair is not None:
            pair = report.pair.pair
            words = joined([placed_word(encoded.features, i) for i in (pair.first, pair.second)])
            said.append(f"What is known of why: {words} work only together, which scores of single words cannot say.")
        elif names:
            said.append(f"{joined(names)}: {cause}.")
    return said


def _marks(report: VerdictReport) -> list[str]:
    """That no input could be rejected, where that is so."""
    return [NO_REFERENCE] if report.untested and any(one.told for one in report.verdicts) else []

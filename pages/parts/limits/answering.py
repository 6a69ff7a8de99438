"""The answer of AOPC and NAOPC: which measure comes closest to what the model allows, and what its score is made of."""

from collections.abc import Iterable

from core.explanation.standings import ARROWS, COMPREHENSIVENESS, SUFFICIENCY, Standing, StandingTable
from core.mathematics.search.limits import EXACT
from core.validity.marks import SIGN, answer_rests, with_sign
from core.verdicts.deciding import VerdictReport
from core.verdicts.telling import believe_sentence, beside_sentence, favoured_sentence
from core.wording import escaped, number, shortened
from pages.parts.frame.sidebar import View
from pages.parts.frame.working import tally_of
from pages.parts.limits.standing import known_ends, reach
from pages.parts.sections.sides import why_rejected
from pages.parts.sections.standings import Boards, KnownLimits, tag

# How the picture is read, by the direction that it shows: what is done, what is good.
_READ = {
    COMPREHENSIVENESS: "▶ Words are masked one by one, what a measure calls most important first: the further the "
    "prediction falls on average (its AOPC ↑), the better the order.",
    SUFFICIENCY: "◁ Words are masked one by one, what a measure calls least important first: the less the prediction "
    "falls on average (its AOPC ↓), the better the order.",
}
# What both scores are, in a page that is saved, which shows both.
_SCORES = (
    "Words are masked in a measure’s order: the most important first (▶ comprehensiveness, ↑ better) or the least "
    "important first (◁ sufficiency, ↓ better). AOPC (area over the perturbation curve): how far the prediction falls "
    "on average; NAOPC (normalised): where that lies between the least, 0, and the most, 1, {ends}."
)


def text_shown(view: View) -> str:
    """The text whose words are masked, a long one cut in the middle, HTML in which it is escaped."""
    return f"“{escaped(shortened(view.example.text, 240), 300)}”"


def what_scores_are(boards: Iterable[StandingTable]) -> str:
    """What AOPC and NAOPC of either direction are, text."""
    return _SCORES.format(ends=known_ends(boards))


def how_read(direction: str, boards: Boards) -> str:
    """How the pictures are read, text: what is done, what is good, of which random orders their bars are, once there
    are any, and what would make that wrong.
    """
    chances = {known.side.model.name: board.chance.name for known, board in boards.items() if board.chance is not None}
    which = next(iter(chances.values()), "")
    if len(set(chances.values())) > 1:
        which = f"random orders ({'; '.join(f'{model}: {name}' for model, name in chances.items())})"
    bar = f" The grey bar shows how far the middle 95 % of {which} reach." if which else ""
    return f"{_READ[direction]}{bar} {SIGN} marks scores on inputs that the test rejects as unknown to the model."


def limits_answer(
    known: KnownLimits,
    board: StandingTable | None,
    direction: str,
    verdicts: VerdictReport | None = None,
    alone: bool = True,
    beside: str = "",
) -> list[str]:
    """The page's result, a paragraph each, HTML in which all text is escaped: which measure comes closest, once all
    that are asked for are scored; once the verdicts are known, which measures to believe: what comes closest may do so
    by chance, so that one is not read without the other. alone: whether no other model is shown beside it, with which
    the page says below its answer what favours a measure; beside: what is known of whom to believe under that one,
    HTML.
    """
    closest = _of_limits(known, board, direction, alone)
    if verdicts is None:
        return [closest]
    # Of two models the whole stands under *Better than chance?*: here the question is which is better.
    side = known.side
    own = believe_sentence(verdicts, side.encoded, why=False) if alone else beside_sentence(verdicts, side.model.name)
    return [closest, " ".join(filter(None, [own, beside, favoured_sentence(verdicts) if alone else ""]))]


def _of_limits(known: KnownLimits, board: StandingTable | None, direction: str, alone: bool) -> str:
    """Which measure comes closest, or what that waits for."""
    if board is None:
        return (
            "The limits are being searched."
            if known.search.runs or (known.narrower is not None and known.narrower.runs)
            else "Ask for the limits to see how close these orders come to the best one."
        )
    limits = board.limits
    if limits.coincide:
        return (
            "On this text every order of masking scores the same, so no measure can be better than another here: "
            "NAOPC is —."
        )
    first, how = board.best(direction), tag(limits)
    reached = f"{reach(limits)} ({how})."
    if first is None:
        return f"{reached} Choose a measure to see where it stands."
    return tally_of(known.scored).tell(_closest(known, board, first, direction, alone), reached)


def _closest(known: KnownLimits, board: StandingTable, first: Standing, direction: str, alone: bool) -> str:
    """The measure that comes closest to what the model allows, and how close; alone: as of `limits_answer`."""
    gate, exact = first.gates[direction], board.limits.method == EXACT
    left, right = ("worst", "best") if direction == COMPREHENSIVENESS else ("best", "worst")
    ends = f"{left} order (0) to the {right} (1)" if exact else f"{left} order found (0) to the {right} found (1)"
    marked = first.marked(direction, True)
    # What is marked is no answer, so that it comes after why it is none.
    warned = (
        f"{answer_rests(gate)} {why_rejected(known.side, gate)}".rstrip() + " By the numbers alone, " if marked else ""
    )
    found = "there is" if exact else "that was found"
    best = f"the best order of {known.side.encoded.unit}s {found}"
    reached = number(first.naopc[direction])
    way = f"it goes {with_sign(reached, True) if marked else f'<b>{reached}</b>'} of the way from the {ends}"
    better = "higher" if direction == COMPREHENSIVENESS else "lower"
    of = "of" if alone else f"under <b>{escaped(known.side.model.name)}</b>, of"
    begins = f"{warned}{of}" if marked else of[0].upper() + of[1:]
    return (
        f"{begins} these measures <b>{escaped(first.measure)}</b> comes closest to {best}: {way}, its NAOPC "
        f"({direction}, {better} is better){_random(board) * alone}."
    )


def _random(board: StandingTable) -> str:
    """What random orders have of the same, behind it; "" before they are there."""
    if board.chance is None or board.chance.naopc != board.chance.naopc:
        return ""
    return f"; {board.chance.name} go {with_sign(number(board.chance.naopc), board.chance_marked(True))} on average"


def score_line(
    known: KnownLimits,
    board: StandingTable,
    direction: str,
    verdicts: VerdictReport | None = None,
    first: Standing | None = None,
) -> str:
    """What the score of a measure is made of, and whether random orders reach as far where no verdict says so, HTML; ""
    where there is none yet. first: the measure, the one that comes closest unless it is given.
    """
    first, limits = first or board.best(direction), board.limits
    if first is None or limits.coincide or tally_of(known.scored).coming:
        return ""
    what, best, worst = (
        ("most", limits.upper, limits.lower)
        if direction == COMPREHENSIVENESS
        else ("least", limits.lower, limits.upper)
    )
    found = "" if limits.method == EXACT else " that was found"
    chance = "" if verdicts is not None else _by_chance(board, first.aopc[direction])
    return (
        f"Masking what <b>{escaped(first.measure)}</b> calls {what} important first "
        f"{_falls(first.aopc[direction], f'the {known.side.score_kind}')} {ARROWS[direction]} on average (AOPC, "
        f"{direction}); the best order{found} {_falls(best)}, the worst {_falls(worst)} ({tag(limits)}). "
        f"NAOPC says where between the worst and the best it stands.{chance}"
    )


def _by_chance(board: StandingTable, reached: float) -> str:
    """That random orders reach such a score as well, where the middle 95 % of them do; else ""."""
    chance = board.chance
    if chance is None or not chance.low <= reached <= chance.high:
        return ""
    ends = with_sign(f"{number(chance.low)} to {number(chance.high)}", board.chance_marked())
    return (
        f" {chance.name} reach {ends} (the middle 95 % of them), so on this text its order is no "
        "better than one by chance can be."
    )


def _falls(change: float, what: str = "it") -> str:
    """A mean fall of the score, in words."""
    return f"lowers {what} by {number(change)}" if change >= 0 else f"raises {what} by {number(-change)}"

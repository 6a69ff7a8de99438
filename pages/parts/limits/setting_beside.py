"""What comes of setting two models beside each other by their limits, in words and for the figure; no Streamlit."""

from typing import NamedTuple

from core.explanation.standings import ARROWS, COMPREHENSIVENESS, Comparison, Standing, StandingTable, compare_standings
from core.figures.palette import hue
from core.mathematics.ranking import LEVEL
from core.mathematics.search.limits import EXACT
from core.validity.marks import OUT, SIGN, with_sign
from core.wording import amount, escaped, joined, number, strong
from pages.parts.sections.sides import classes_sentence, same_class
from pages.parts.sections.standings import Boards, tag


class SetBeside(NamedTuple):
    """What comes of setting two models beside each other, in sentences: head, the answer, and rest, what stands behind
    it; "" with one model. settled: nothing of it may turn any more, so that it may stand for the page's answer.
    """

    head: str = ""
    rest: str = ""
    settled: bool = False


def comparison_line(found: Comparison, complete: bool) -> str:
    """Whether normalising changes what the two models' scores say, in plain words; HTML in which all text is escaped.

    complete: whether nothing of it may change any more; before, which model is ahead is not told.
    """
    if not found.ahead:
        return ""
    if not complete:
        return "Whether normalising changes which model is ahead is told once all of it is known."
    if any(one.marked for one in found.placed):
        whose = joined([strong(name) for name in dict.fromkeys(one.model for one in found.placed if one.marked)])
        why = f"{SIGN} scores of {whose} rest on inputs that are {OUT}"
        return f"<b>Which of the two models a measure explains better cannot be told here</b>: {why}."
    begins, goes_on = _changed(found)
    return f"<b>{begins}</b> {goes_on}"


def numbers_line(found: Comparison) -> str:
    """What the numbers alone would say where `comparison_line` says that nothing can be told, HTML; "" elsewhere."""
    if not found.ahead or not any(one.marked for one in found.placed):
        return ""
    begins, goes_on = _changed(found)
    begins = f"normalising{begins.removeprefix('Normalising')}"
    if not found.changed:
        return f"By the numbers alone {begins} {goes_on}"
    of = f"for {len(found.changed)} of {amount(len(found.ahead), 'measure')}"
    return f"By the numbers alone, {_turns(found)}: {begins} {of}."


def ranges_line(boards: dict[str, StandingTable]) -> str:
    """How far each model's AOPC can go, HTML in which all text is escaped."""
    ranges = {name: (number(one.limits.lower), number(one.limits.upper)) for name, one in boards.items()}
    told = " and ".join(
        f"{lower} to {upper} for <b>{escaped(name)}</b> ({tag(boards[name].limits)})"
        for name, (lower, upper) in ranges.items()
    )
    same = len(set(ranges.values())) == 1
    return f"The same text allows an AOPC of {told}{'' if same else ', so raw scores of the two do not compare'}."


def same_measure(board: StandingTable, boards: Boards) -> Standing | None:
    """Where the measure stands that is told of: that which comes closest under the first model, so that two models are
    set beside each other by the same one; under another model its own closest where that one is not there.
    """
    known, first = next(iter(boards.items()))
    direction = known.choice.direction
    closest = first.best(direction)
    return (closest and board.of(closest.measure)) or board.best(direction)


def scores_of_both(boards: Boards) -> str:
    """How far the order of one measure goes under the second model, too, and what that is made of under each: how far
    words masked in it take the score down, and how far the best order does; HTML in which all text is escaped. "" while
    anything may change, without the measure under both, and where the two explain different classes.
    """
    found = {one: standing for one, board in boards.items() if (standing := same_measure(board, boards)) is not None}
    settled = not any(one.runs or board.limits.coincide for one, board in boards.items())
    one_measure = len(found) > 1 and len({standing.measure for standing in found.values()}) == 1
    if not settled or not one_measure or not same_class([one.side for one in found]):
        return ""
    first, second = found
    direction = first.choice.direction
    way = with_sign(number(found[second].naopc[direction]), found[second].marked(direction, True))
    told = " and ".join(
        f"{with_sign(number(standing.aopc[direction]), standing.marked(direction))} under "
        f"<b>{escaped(one.side.model.name)}</b> (the best order{_of_best(boards[one], direction)})"
        for one, standing in found.items()
    )
    first_there = boards[second].best(direction)
    other = ""
    if first_there is not None and first_there.measure != found[second].measure:
        reached = with_sign(number(first_there.naopc[direction]), first_there.marked(direction, True))
        other = f"; there {escaped(first_there.measure)} comes closest ({reached})"
    order = f"<b>{escaped(found[first].measure)}</b>’s order"
    return (
        f"Under <b>{escaped(second.side.model.name)}</b> that is {way}{other}. Masking in {order} lowers the "
        f"{escaped(first.side.score_name)} on average by {told}: the AOPC {ARROWS[direction]}."
    )


def _of_best(board: StandingTable, direction: str) -> str:
    """The AOPC of the best order, with its mark, as words on that order go on."""
    limits, (low, high) = board.limits, board.gates
    best, gate = (limits.upper, high) if direction == COMPREHENSIVENESS else (limits.lower, low)
    return f"{'' if limits.method == EXACT else ' that was found'}: {with_sign(number(best), gate.marked)}"


def by_model(boards: Boards) -> dict[str, StandingTable]:
    """What is known of each model."""
    return {one.side.model.name: board for one, board in boards.items()}


def compared(boards: Boards) -> Comparison | None:
    """The comparison of two models that explain the same class; None where there is none."""
    if not same_class([one.side for one in boards]):
        return None
    return compare_standings(by_model(boards), next(iter(boards)).choice.direction)


def comparison(boards: Boards) -> SetBeside:
    """What comes of setting two models beside each other: how far each can go stands first where nothing more can be
    told.
    """
    if len(boards) < 2:
        return SetBeside()
    sides = [one.side for one in boards]
    found, classes = compared(boards), classes_sentence(sides)
    if not same_class(sides):
        return SetBeside(classes, settled=True)
    if found is None:
        none = "there are none yet, or every order of one of them scores the same."
        return SetBeside(f"The scores of the two models are not compared: {none} {classes}".rstrip(), settled=True)
    complete = not any(one.runs for one in boards)
    said, ranges = comparison_line(found, complete), ranges_line(by_model(boards))
    rest = numbers_line(found) if complete else ""
    head, after = (f"{said} {ranges}", rest) if rest else (said, ranges)
    return SetBeside(f"{head} {classes}".strip(), after, complete)


def _changed(found: Comparison) -> tuple[str, str]:
    """Whether normalising changes who is ahead, and how a sentence goes on after that; HTML."""
    many = amount(len(found.ahead), "measure")
    if found.changed:
        return (
            f"Normalising changes {'which' if found.turned else 'whether a'} model is ahead",
            f"for {len(found.changed)} of {many} ({_turns(found)}).",
        )
    leads = {after for _, after in found.ahead.values()}
    whole = f": {_lead(leads.pop())} both ways" if len(leads) == 1 else ""
    moved = sum(one.place != one.place_normalised for one in found.placed)
    aside = f", though {moved} places in the common ranking change" if moved else ""
    return "Normalising does not change which model is ahead", f"for any of {many}{whole}{aside}."


def _turns(found: Comparison) -> str:
    """Of whom normalising changes who is ahead, and from whom to whom, HTML."""
    alike: dict[tuple[str | None, str | None], list[str]] = {}
    for measure in found.changed:
        alike.setdefault(found.ahead[measure], []).append(escaped(measure))
    return "; ".join(
        f"{joined(names)}: {_lead(before)} by AOPC, {_lead(after)} by NAOPC" for (before, after), names in alike.items()
    )


def slope_points(found: Comparison, second: str) -> tuple[list, list]:
    """What the slope chart draws, see `core.figures.limit_figures.slope`."""
    return (
        [
            (
                with_sign(f"{one.measure} · {one.model}", one.marked),
                hue(one.measure),
                one.model == second,
                one.place,
                one.aopc,
            )
            for one in found.placed
        ],
        [(one.place_normalised, one.naopc) for one in found.placed],
    )


def _lead(model: str | None) -> str:
    return f"both are level (less than {LEVEL:g} apart)" if model is None else f"{escaped(model)} is ahead"

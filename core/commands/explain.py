"""`python -m core explain`: one text, what measures say of it and how far that may be trusted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.commands import options as given
from core.commands import terminal
from core.commands.options import Option, Options
from core.explanation.limiting import COMPREHENSIVENESS, DIRECTIONS
from core.measures.catalogue import default_measures
from core.oracle.erasing import ERASURES, MASK, require_erasure
from core.reports.answers import Answer, Part, Section, answer_bytes, answer_text, ending_of, written_sections
from core.reports.attribution_page import attribution_page
from core.reports.exports import Shown
from core.stability.finding import MOST_RUNS
from core.storage.files import only_writer, write_whole

HELP = "explain one text: attributions, verdicts, limits, pairs, smallest sets, stability, masking steps, metrics"
GOES_ON = terminal.RESUMES
_DRAWN = ("attributions", "verdicts", "pairs")
PARTS = ("attributions", "verdicts", "limits", "pairs", "sets", "stability", "steps", "metrics")


def add(option: Option) -> None:
    """What it takes."""
    given.add_text(option)
    option("--what", nargs="+", choices=PARTS, default=["attributions", "verdicts", "sets"], help="what is told")
    given.add_measures(option, "to explain with", default_measures())
    given.add_unit(option)
    given.add_maskable(option)
    given.add_test(option)
    option("--exact", action="store_true", help="every set of words, however long it takes (default: up to 12 words)")
    about = "of AOPC, in verdicts and limits; lower sufficiency is better"
    option("--direction", choices=DIRECTIONS, default=COMPREHENSIVENESS, help=about)
    about = "of verdicts: random orders (default: 60, more for Holm; up to 12 words: all, or 99,999)"
    option("--orders", type=int, help=about)
    option("--erasures", nargs="+", choices=ERASURES, default=[MASK], help="of verdicts: erasures to compare")
    option("--causes", action="store_true", help="of verdicts: also explain failures (slower)")
    option("--width", type=int, help="of limits: beam width (default: insertion search)")
    option("--sampled", action="store_true", help="of pairs: from sampled sets, as unasked above 12 words")
    option("--pairs", type=int, default=5, help="of pairs: strongest ones to print and test")
    option("--runs", type=int, default=5, help="of stability: seeds of stochastic measures, 2 to 100")
    given.add_metrics(option, "of metrics: faithfulness metrics")
    given.add_out(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    ending = ending_of(options.out)
    refuse_choices(options)
    named = terminal.named_example(options)
    _, (explainer,) = terminal.open_models(options)
    for erasure in options.erasures:
        require_erasure(explainer.model, erasure)
    one = terminal.text_of(options, explainer, named)
    with terminal.Bar() as bar:
        told = _told(options, one, bar)
        terminal.say_of_store(one.explainer.store, bar.say)
    print(f"{one.title}:\n\n{answer_text(_sections(one, told))}")
    if options.out:
        with only_writer(Path(options.out)) as place:
            write_whole(place, text_bytes(options, one, told, ending), replaces=True)
        print(f"\nWritten: {options.out}")
    return 0


def refuse_choices(options: Options) -> None:
    """ValueError with a sentence for the first choice that cannot be carried out."""
    options.measures = list(dict.fromkeys(options.measures))
    if set(options.what) != {"pairs"}:
        terminal.refuse_measures(options.measures)
    for name in ("orders", "pairs", "width"):
        terminal.refuse_below_one(f"--{name}", getattr(options, name))
    if not 2 <= options.runs <= MOST_RUNS:
        raise ValueError(f"--runs is from 2 to {MOST_RUNS}, not {options.runs}")


def _told(options: Options, one: terminal.OneText, bar: terminal.Bar) -> dict[str, Part]:
    """{name: what is told}; of several, one that this text does not allow is told and left out."""
    found, asked = {}, [name for name in PARTS if name in options.what]
    for name in asked:
        try:
            found[name] = tell(name, options, one, bar)
        except ValueError as error:
            if name == asked[-1] and not found:
                raise
            bar.say(f"{name}: {error}")
    return found


def tell(name: str, options: Options, one: terminal.OneText, bar: terminal.Bar) -> Part:
    """One of PARTS; ValueError with a sentence where the text or a choice does not allow it."""
    from core.commands import parts

    return parts.PARTS[name](options, one, bar)


def _sections(one: terminal.OneText, told: Mapping[str, Part]) -> list:
    """What limits all that is said of the text, and what is said."""
    limits = Section(notes=[each.line for each in one.caveats])
    return [limits, *(section for part in told.values() for section in part.sections)]


def answer_of(options: Options, one: terminal.OneText, told: Mapping[str, Part]) -> Answer:
    """What is told of a text, in any form but a page with its words; an old name's as it was before."""
    facts, plain = one.facts(), {key: value for part in told.values() for key, value in part.plain.items()}
    if "old" in options:
        # Pairs stood at the top.
        plain = plain.pop("pairs", {}) | plain
    else:
        facts |= one.origin(options)
    several, lines = len(told) > 1, []
    for name, part in told.items():
        lines += [({"part": name} if several else {}) | dict(zip(part.columns, line)) for line in part.lines]
    columns = [] if several else next(iter(told.values())).columns
    return Answer(one.title, _sections(one, told), lines, plain, facts, columns)


def text_bytes(options: Options, one: terminal.OneText, told: Mapping[str, Part], ending: str) -> bytes:
    """A file of this kind of what is told of a text."""
    answer = answer_of(options, one, told)
    if ending == ".html" and "attributions" in told:
        return _page(one, told, answer.facts).encode("utf-8")
    return answer_bytes(answer, ending)


def shown_text(one: terminal.OneText, told: Mapping[str, Part], facts: Mapping[str, Any]) -> Shown:
    """The words of a text with what measures say of them, ready to be written down."""
    found = {name: part.found for name, part in told.items()}
    return Shown(
        one.encoded,
        one.example,
        one.explainer.model.labels,
        one.explainer.probabilities(one.encoded),
        one.target,
        tuple(found["attributions"]),
        notes=(*one.explainer.model.notes, *(each.line for each in one.caveats)),
        provenance=dict(facts),
        verdicts=found.get("verdicts"),
        pairs=found.get("pairs"),
    )


def _page(one: terminal.OneText, told: Mapping[str, Part], facts: Mapping[str, Any]) -> str:
    """The page that Attributions saves, with what else is told behind it."""
    # The others stand on that page already.
    more = [section for name, part in told.items() if name not in _DRAWN for section in part.sections]
    return attribution_page(shown_text(one, told, facts), more=written_sections(more))

"""A model check as tables, each (header, rows) of text, and the sentences that stand beside them on a page."""

from core.evaluation.families import Measured, all_tokens_masked
from core.evaluation.findings import unranked
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X
from core.evaluation.studies.disagreement import Disagreement
from core.explanation.recursive import UNSTABLE_MEANS, area_cells
from core.validity.marks import HOLM, PERCENT, Why, ratios_text, with_sign
from core.validity.references import CALIBRATED, FORMS, LITERAL
from core.wording import escaped, linked_name, number, p_value, percent, share_text, strong

# What the p of a data set asks in each form.
ASKS = {CALIBRATED: "texts rejected (calibrated, by count)", LITERAL: "the most unlike text (literal, by Simes)"}
STRATEGIES = {"half": "every second example masked", "mask": "only masked", "none": "never masked", "": "no card"}


def curves_in_words(reports: list[CheckReport]) -> str:
    """The figure of performance for those who do not see it."""
    told = (
        f"{one.model}, {line.curve.label}: {', '.join(f'{value:.2f}' for value in line.performance)}"
        for one in reports
        for line in one.shown
    )
    return f"Performance at each masking ratio. {'; '.join(told)}."


def p_in_words(reports: list[CheckReport]) -> str:
    """The figure of the data set's p-values for those who do not see it."""
    told = (
        f"{one.model}, {line.curve.label}, {form}: {', '.join(map(number, line.p[form].tolist()))}"
        for one in reports
        for line in one.shown
        for form in FORMS
        if form in line.p
    )
    return f"p of the data set at each masking ratio. {'; '.join(told)}."


def training_table(reports: list[CheckReport], form: str) -> tuple[list[str], list[list[str]]]:
    """Models beside each other: how they were trained, what they reach, and what the test says of them."""
    header = [
        "model",
        "trained",
        f"unmasked {reports[0].metric} ↑",
        f"all{reports[0].sample.of_first} masked ↑",
        f"class majority of {reports[0].majority_of}",
        *(f"smallest p: {ASKS[of]} ↑" for of in FORMS),
        f"texts rejected at 0, 50, 100 %{reports[0].sample.of_first} ({PERCENT} expected) ↓",
        "texts",
    ]
    rows = [
        [
            one.model,
            STRATEGIES[one.training],
            *(percent(value, one.metric) for value in (one.unmasked, one.masked, one.majority)),
            *(_smallest(one, of) for of in FORMS),
            _shares(one, form),
            f"{one.n:,}",
        ]
        for one in reports
    ]
    return header, rows


def uneven_note(reports: list[CheckReport]) -> str:
    """That models beside each other rest on different texts while some are to come; "" where all rest on the same."""
    few, many = min(one.n for one in reports), max(one.n for one in reports)
    if few == many:
        return ""
    return f"The rows rest on {few:,} to {many:,} texts so far: compare the models once all have the same."


def _smallest(one: CheckReport, form: str) -> str:
    if not one.floor:
        return f"— ({Why.NO_REFERENCE})"
    p, at = one.smallest(form)
    return with_sign(f"{p_value(p)} at {share_text(at)} masked", one.random.marked(form))


def _shares(one: CheckReport, form: str) -> str:
    counts = one.random.rejected.get(form)
    return "—" if counts is None else " · ".join(f"{counts[k]:,}" for k in (0, 5, 10)) + f" of {one.n:,}"


def ratios_table(reports: list[CheckReport], form: str) -> tuple[list[str], list[list[str]]]:
    """How many texts are rejected at each masking ratio, random order first, and the p-values of the data set."""
    header = ["masked", *(share_text(X[k]) for k in range(len(X)))]
    rows = []
    for place, one in enumerate(reports):
        for line in one.shown if place == 0 else [line for line in one.shown if line is one.random]:
            if form not in line.rejected:
                continue
            name = f"{one.model}, {line.curve.label}" if len(reports) > 1 else line.curve.label
            rows.append([f"{name}: rejected of {line.n:,}", *(f"{count:,}" for count in line.rejected[form])])
            if form == CALIBRATED:
                rows.append([f"{name}: {form} p by count", *map(number, line.p[form])])
            rows.append([f"{name}: {form} p by Simes", *map(number, line.simes[form])])
    return header, rows


def ratios_note(form: str) -> str:
    """What that table says."""
    expected = (
        f"Of texts like the reference’s, {PERCENT} are expected to be rejected at each ratio; p by count says how "
        "often so many or more would be, on average over references. "
        if form == CALIBRATED
        else "The literal form promises no share, so it has no p by count. "
    )
    return (
        expected + "p by Simes is the paper's rule: one text at the smallest p decides it, and only in small samples."
    )


def spans_in_words(cards: list[Measured]) -> str:
    """What models reach by their cards, for those who do not see the figure."""
    return "; ".join(
        f"{one.name}: {percent(one.unmasked, one.metric)} unmasked, {percent(one.masked, one.metric)} "
        f"{all_tokens_masked(one.paired)}"
        for one in cards
    )


def spans_note(cards: list[Measured]) -> str:
    """On what the cards say it, and whose weights are not here."""
    away = [one.name for one in cards if not one.ships]
    return (
        f"By their cards, on the whole test file ({cards[0].examples:,} examples, tokens masked at random"
        f"{', in both texts, where the check above masks the first alone' if cards[0].paired else ''})."
    ) + (f" The weights of {', '.join(away)} are not included." if away else "")


def with_evidence(found: CheckReport) -> list[CurveFigures]:
    """The lines of measures for which it is known how well they find the evidence."""
    return [line for line in found.measured if line.precision == line.precision]


def measures_table(found: CheckReport, form: str) -> tuple[list[str], list[list[str]]]:
    """How faithful each measure is, and where evidence is known how well it finds it; random order last."""
    known = with_evidence(found)
    header = [
        "measure",
        "RACU ↑",
        "ACU ↑",
        f"smallest p up to {share_text(X[-2])} masked: {ASKS[form]}",
        *["average precision ↑", "recall of top k ↑"] * bool(known),
        "examples",
    ]
    rows = [
        [
            line.curve.label,
            *area_cells(line.areas, found.marked(line, form)),
            # With everything masked all orders are the same inputs.
            number(float(line.p[form][:-1].min())) if form in line.p else "—",
            *[number(line.precision), number(line.recall)] * bool(known),
            f"{line.n:,}",
        ]
        for line in found.measured
    ]
    p = number(float(found.random.p[form][:-1].min())) if found.floor else "—"
    evidence = [number(known[0].chance), ""] if known else []
    return header, [*rows, ["random order", "0", "0", p, *evidence, f"{found.n:,}"]]


def measures_note(found: CheckReport, form: str) -> str:
    """What the columns of that table mean."""
    unstable = f" {UNSTABLE_MEANS}" if any(line.areas.unstable for line in found.measured) else ""
    rule = found.random.gates[form].rule if form in found.random.gates else HOLM
    evidence = (
        " Average precision and recall: does the attribution of the unmasked text rank the words of the evidence first "
        "(k: as many as there are)? That is plausibility. The two can disagree."
    )
    return (
        "RACU: does masking what it ranks first take the performance down, set against random order (0) and one that "
        "takes all of it at once (1; signed ones exceed it)? That is faithfulness; ACU is the area itself and does not "
        "compare across models. In brackets 95 % intervals over the texts, measure and random order resampled "
        "together: that a random order is drawn by chance for each text is in them, too."
        f"{unstable} {ratios_text(rule, len(X))}{evidence * bool(with_evidence(found))}"
    )


def found_and_faithful(found: CheckReport, form: str) -> str:
    """The measure that finds the evidence best and the one that is the most faithful, of those that are through; HTML
    in which all text is escaped, "" where there are not two, and while examples are to come. Of fewer than 20 texts,
    and of texts picked by what the model does with them, neither is told.
    """
    if not found.measured_tally.settled:
        return ""
    through = [line for line in with_evidence(found) if line.n == found.n]
    if len(through) < 2:
        return ""
    why = "which measure finds the evidence best, or is the most faithful", "what measures score"
    untold = unranked(found.n, found.sample.picked, *why)
    if untold:
        return escaped(untold, 600)
    finder = max(through, key=lambda line: line.precision)
    told = [line for line in through if line.racu == line.racu and not line.areas.unstable]
    faithful = max(told, key=lambda line: line.racu, default=None)
    if faithful is None:
        parted = (
            "which is the most faithful one cannot be told, since masking in random order takes no performance away "
            "here for certain"
        )
    else:
        same = "the same measure" if finder is faithful else strong(faithful.curve.measure)
        racu = f"RACU ↑ {area_cells(faithful.areas, found.marked(faithful, form))[0]}"
        parted = f"{same} has the highest {racu}"
        if not any(line.areas.acu.low > 0 for line in through):
            parted = f"none is more faithful than random order for certain ({parted})"
        elif not faithful.areas.acu.low > 0:
            parted += ", though its interval reaches random order, as that of another measure does not"
    chance = f"where a random order has {number(finder.chance)}"
    if finder.precision <= finder.chance:
        return f"None of these measures finds the evidence better than chance ({chance}), and {parted}."
    precision = f"average precision {number(finder.precision)} ↑"
    return f"{strong(finder.curve.measure)} finds the evidence best ({precision}, {chance}), and {parted}."


def disagreement_sentence(parts: Disagreement, example: str, address: str | None = None) -> str:
    """The example at which finding the evidence and being faithful part most, a link where it has an address; HTML in
    which all text is escaped.
    """
    return (
        f"They part most on {linked_name(example, address)}: {escaped(parts.finder)} finds the evidence (average "
        f"precision {number(parts.precision[0])} ↑ against {number(parts.precision[1])}), but "
        f"{escaped(parts.faithful)} is more faithful there (ACU {number(parts.acu[1])} ↑ against "
        f"{number(parts.acu[0])}, both set against one random order)."
    )

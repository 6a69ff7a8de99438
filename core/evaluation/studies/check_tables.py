"""A model check as tables, each (header, rows) of text, and the sentences that stand beside them on a page."""

import numpy as np

from core.evaluation.families import Measured, all_tokens_masked
from core.evaluation.findings import unranked
from core.evaluation.studies.check_lengths import by_length, split_told
from core.evaluation.studies.check_report import CheckReport, CurveFigures, X
from core.evaluation.studies.check_sentences import simes_least
from core.evaluation.studies.check_words import own_as_held_out
from core.evaluation.studies.disagreement import Disagreement
from core.explanation.recursive import NO_RACU, UNSTABLE_MEANS, area_cells
from core.validity.marks import HOLM, OUT, PERCENT, SIGN, Why, ratios_text, with_sign
from core.validity.references import CALIBRATED, FORMS, LITERAL
from core.verdicts.telling import suits_sentence, unsigned_sentence
from core.wording import amount, escaped, joined, linked_name, number, p_value, percent, share_text, strong, unbroken

# What the p of a data set asks in each form.
ASKS = {CALIBRATED: "texts rejected (calibrated, by count)", LITERAL: "all texts together (literal, by Simes)"}
_MORE = "more faithful than random order"
STRATEGIES = {"half": "every second example masked", "mask": "only masked", "none": "never masked", "": "no card"}


def curves_in_words(reports: list[CheckReport]) -> str:
    """The figure of performance for those who do not see it."""
    told = (
        f"{one.model}, {line.curve.label}: {', '.join(f'{value:.2f}' for value in line.performance)}"
        for one in reports
        for line in one.shown
    )
    split = split_told(reports[0])
    usual = ""
    if split is not None and split.rejected is not None:
        ends, counts = f"{split.low:,} to {split.high:,}", ", ".join(map(str, split.rejected[0].tolist()))
        usual = f" Rejected of {amount(split.alike[1], 'text')} of {ends} tokens: {counts}."
    return f"Performance at each masking ratio. {'; '.join(told)}.{usual}"


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


# Ratios of `lengths_table`: unmasked, half, nearly all and all.
_FEW_RATIOS = (0, 5, 9, 10)


def lengths_table(found: CheckReport) -> tuple[list[str], list[list[str]]]:
    """How many texts of usual length, of others, and of all are rejected at a few masking ratios, in the calibrated
    form, and at which ratios they are together; without rows where nobody knows, or all are of usual length.
    """
    split = split_told(found)
    masked = [unbroken(f"{share_text(X[k])} masked") for k in _FEW_RATIOS]
    header = ["texts rejected", *masked, "rejected together (Holm)"]
    if split is None or split.rejected is None:
        return header, []
    gate = found.random.gates[CALIBRATED]

    def row(name: str, counts: np.ndarray, n: int, together: str) -> list[str]:
        cells = (f"{share_text(counts[k] / n)} ({int(counts[k]):,})" if n else "—" for k in _FEW_RATIOS)
        return [f"{name} ({n:,})", *cells, together]

    def ratios(where: list[float]) -> str:
        return joined([share_text(ratio) for ratio in where]) if where else "at no ratio"

    every = with_sign(ratios([float(X[k]) for k in gate.rejected.nonzero()[0]]), gate.marked)
    (_, m), (_, n) = split.alike, split.others
    usual = "—" if split.together is None else ratios([float(one) for one in split.together])
    return header, [
        row(f"of {split.low:,} to {split.high:,} tokens, like most it was fitted on", split.rejected[0], m, usual),
        row("shorter or longer", split.rejected[1], n, "cannot be told"),
        row("all", found.random.rejected[CALIBRATED], found.n, every),
    ]


def lengths_note(found: CheckReport) -> str:
    """What the last column of that table can say; "" of pairs, whose second text stays."""
    if found.sample.paired:
        return ""
    whole = found.sample.whole
    return (
        f"With {whole} masked nothing of a text is left but its length, so that all texts of one length are rejected "
        "there, or none, whatever their words."
    )


def p_sentence(reports: list[CheckReport]) -> str:
    """Of each model at which ratios more texts are rejected than chance explains, over all ratios by Holm; "" where
    nothing is tested. Of the first one what the texts of usual length say by themselves, and of which the literal form
    cannot reject whatever the texts.
    """
    told = []
    for one in reports:
        gate = one.random.gates.get(CALIBRATED)
        if gate is not None and gate.available and one.tally.settled:
            where = [share_text(X[k]) for k in gate.rejected.nonzero()[0]]
            told.append(f"{one.model} {f'at {joined(where)} masked' if where else 'at no ratio'}")
    if not told:
        return ""
    return (
        "Over all texts checked, more of them, masked at random, are rejected than chance explains, by count and Holm "
        f"over {len(X)} ratios: {'; '.join(told)}.{_usual_p(reports[0])}{_literal_shut(reports)} The dashed red line "
        "is for one ratio by itself, so that others may lie below it."
    )


def literal_takes(found: CheckReport) -> str:
    """How many texts with the smallest p there can be it takes for the paper's form to reject them together."""
    least = simes_least(found)
    if least is None or least > found.n:
        return "a literal one (by Simes) is the paper’s."
    texts = "a single text" if least == 1 else f"{least:,} of {found.n:,} texts"
    return f"a literal one (by Simes), the paper’s, takes {texts} with the smallest p that there can be."


def _usual_p(found: CheckReport) -> str:
    """The smallest p of the texts of usual length by themselves, a further sentence; "" where all are of such."""
    split = split_told(found)
    if split is None or split.p is None:
        return ""
    k, n = int(split.p.argmin()), split.alike[1]
    return (
        f" Of the {amount(n, 'text')} of {split.low:,} to {split.high:,} tokens by themselves the smallest "
        f"{p_value(float(split.p[k]))}, unadjusted, at {share_text(X[k])} masked under {found.model}."
    )


def _literal_shut(reports: list[CheckReport]) -> str:
    """Under which models the literal form cannot reject, a further sentence."""
    shut = [one.model for one in reports if LITERAL in one.random.gates and not one.random.gates[LITERAL].available]
    floors = [f"{one.floor[LITERAL]:.3g}" for one in reports if one.model in shut]
    if not shut:
        return ""
    return (
        f" Under {joined(shut)} the literal form cannot reject: no p of {'its' if len(shut) == 1 else 'their'} "
        f"reference is below {joined(floors)}."
    )


def ratios_table(reports: list[CheckReport], form: str) -> tuple[list[str], list[list[str]]]:
    """How many texts are rejected at each masking ratio, random order first, and the p-values of the data set; in the
    calibrated form those of usual length and the others by themselves, too, where many are unusual.
    """
    header = ["masked", *(share_text(X[k]) for k in range(len(X)))]
    rows = []
    for place, one in enumerate(reports):
        for line in one.shown if place == 0 else [line for line in one.shown if line is one.random]:
            if form not in line.rejected:
                continue
            name = f"{one.model}, {line.curve.label}" if len(reports) > 1 else line.curve.label
            rows.append([f"{name}: rejected of {line.n:,}", *(f"{count:,}" for count in line.rejected[form])])
            # What the figure above it draws; p by Simes in the calibrated form is in the file.
            for of, how in ((CALIBRATED, "by count"), (LITERAL, "by Simes")):
                if of in line.p and form in (of, CALIBRATED):
                    rows.append([f"{name}: {of} p {how}", *map(number, line.p[of])])
            if line is one.random and form == CALIBRATED and one.other_lengths is not None:
                split = by_length(one.followed, one.other_lengths, form, one.worst(), one.fitted)
                rows += [[f"{name}, {lot}", *cells] for lot, cells in ([] if split is None else split.rows)]
    return header, rows


def ratios_note(form: str) -> str:
    """What that table says."""
    expected = (
        f"Of texts like the reference’s, {PERCENT} are expected to be rejected at each ratio; p by count says how "
        "often so many or more would be, on average over references. "
        if form == CALIBRATED
        else "The literal form promises no share, so it has no p by count. "
    )
    return expected + (
        "The literal p by Simes is the paper’s: in a small sample one text with the smallest p that there can be is "
        "enough to reject, and in a large one it takes several."
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


def apart_note(found: list[CheckReport], cards: list[Measured]) -> str:
    """That what papers found is set against these texts and not against the test file of the cards, and what the models
    that are checked reach unmasked on that; "" where fewer than two of them have a card.
    """
    names = [one.model for one in found]
    told = [f"{one.name} {percent(one.unmasked, one.metric)}" for one in cards if one.name in names]
    if len(told) < 2:
        return ""
    return (
        f"These rows go by the {amount(found[0].n, 'text')} that are checked; on the whole test file (the picture) "
        f"unmasked {cards[0].metric} is {joined(told)}."
    )


def measured_caveats(found: CheckReport) -> str:
    """How measures are asked here, and what favours some or counts against others, text; "" for nothing of it."""
    if not found.measured:
        return ""
    curves = [line.curve for line in found.measured]
    names = [curve.measure for curve in curves]
    anew = "Measures are computed anew at each step." * curves[0].recompute
    told = anew, suits_sentence(names, "as these curves do"), unsigned_sentence(names, curves[0].sign)
    return " ".join(filter(None, told))


def with_evidence(found: CheckReport) -> list[CurveFigures]:
    """The lines of measures for which it is known how well they find the evidence."""
    return [line for line in found.measured if line.precision == line.precision]


def measures_table(found: CheckReport, form: str) -> tuple[list[str], list[list[str]]]:
    """How faithful each measure is, and where evidence is known how well it finds it; random order last."""
    known, areas = with_evidence(found), ["RACU ↑", "ACU ↑"][_no_racu(found) :]
    header = [
        "measure",
        *areas,
        f"smallest p, 0 to {share_text(X[-2])} masked ↑",
        *["average precision ↑", "recall of top k ↑"] * bool(known),
        "examples",
    ]
    rows = [
        [
            line.curve.label,
            *area_cells(line.areas, found.marked(line, form))[-len(areas) :],
            # With everything masked all orders are the same inputs.
            number(float(line.p[form][:-1].min())) if form in line.p else "—",
            *[number(line.precision), number(line.recall)] * bool(known),
            f"{line.n:,}",
        ]
        for line in found.measured
    ]
    p = number(float(found.random.p[form][:-1].min())) if found.floor else "—"
    evidence = [number(known[0].chance), ""] if known else []
    return header, [*rows, ["random order", *["0"] * len(areas), p, *evidence, f"{found.n:,}"]]


def measures_note(found: CheckReport, form: str) -> str:
    """What the columns of that table mean."""
    rule = found.random.gates[form].rule if form in found.random.gates else HOLM
    racu = (
        " RACU: the same as a share of that of an order that takes all of the performance at once (1; signed ones "
        "exceed it). "
        f"{UNSTABLE_MEANS * any(line.areas.unstable for line in found.measured)}"
    )
    tested = (
        f" Smallest p: {ASKS[form]}, unadjusted; with everything masked all orders are the same input, which is left "
        "out there."
    )
    evidence = (
        " Average precision and recall: does the attribution of the unmasked text rank the words of the evidence first "
        "(k: as many as there are)? That is plausibility. The two can disagree."
    )
    acu = (
        f"ACU: how far masking what a measure ranks first takes {found.metric} below random order (0), as the area "
        "between the two curves: one measure of faithfulness, which does not compare across models."
    )
    said = (
        acu,
        racu.rstrip() * (not _no_racu(found)),
        " In brackets 95 % intervals over the texts, measure and random order resampled together.",
        tested * bool(found.floor),
        f" {ratios_text(rule, len(X))}",
        evidence * bool(with_evidence(found)),
    )
    return "".join(said)


def _no_racu(found: CheckReport) -> bool:
    """Whether no measure has one, once all is counted, so that it has no column."""
    return found.measured_tally.settled and bool(found.measured) and all(line.areas.unstable for line in found.measured)


def _whole_alone(found: CheckReport, form: str) -> str:
    """Whose sign comes from the one input that all orders share, and says nothing of an order, a further sentence."""
    marked = [line for line in found.measured if found.marked(line, form)]
    gates = [[one.gates[form] for one in (line, found.random) if form in one.gates] for line in marked]
    names = [line.curve.label for line, both in zip(marked, gates) if not any(one.rejected[:-1].any() for one in both)]
    if not names:
        return ""
    of = "" if len(names) == len(found.measured) else f" of {joined(names)}"
    return (
        f" That{of} comes from the inputs with {found.sample.whole} masked alone, which are the same in every order, "
        "so it says nothing of an order."
    )


def faithful_sentence(found: CheckReport, form: str) -> str:
    """Which measures are more faithful than random order by ACU, which are not shown to be, and what rests on rejected
    inputs, plain text; "" while examples are to come, and where none has an area. Of fewer than 20 texts, and of texts
    picked by what the model does with them, none is told.
    """
    through = [line for line in found.measured if line.n == found.n and line.acu == line.acu]
    if not found.measured_tally.settled or not through:
        return ""
    no_racu = f" {NO_RACU}" * _no_racu(found)
    untold = unranked(found.n, found.sample.picked, "which measures are faithful", "what measures score")
    if untold:
        # Of several whose evidence is known `found_and_faithful` says it.
        above = len([line for line in with_evidence(found) if line.n == found.n]) > 1
        return f"{untold * (not above)}{no_racu}".strip()
    more = [line for line in through if line.areas.acu.low > 0]
    less = [line for line in through if line.areas.acu.high < 0]
    rest = [line for line in through if line not in more and line not in less]
    neither = "not shown to be " + ("either" if more and less else "so" if more or less else _MORE)
    told = [
        f"{joined([f'{line.curve.label} ({number(line.acu)})' for line in lines])} "
        f"{'is' if len(lines) == 1 else 'are'} {said}"
        for lines, said in ((more, _MORE), (less, "less faithful than random order"), (rest, neither))
        if lines
    ]
    return f"By ACU and its 95 % intervals, each by itself, {'; '.join(told)}.{_rests(found, through, form)}{no_racu}"


def elsewhere_note(found: CheckReport) -> str:
    """What the areas here are of, where other pages go by something else."""
    if not found.measured:
        return ""
    return (
        f"Here the label is explained, and the fall of {found.metric} is measured; Data set and Scoreboard explain "
        "what is predicted and measure the fall of its probability, so that their numbers, and the order of measures, "
        "may be others."
    )


def _rests(found: CheckReport, through: list[CurveFigures], form: str) -> str:
    """Which of these numbers rest on rejected inputs, a further sentence; "" for none."""
    marked = [line.curve.label for line in through if found.marked(line, form)]
    if not marked:
        return ""
    one, every = len(marked) == 1, len(marked) == len(through)
    whose = "This number" if every and one else "All these numbers" if every else f"What is told of {joined(marked)}"
    rests = f"{whose} rest{'s' * (one or not every)} at least partly on inputs that are {OUT}."
    alone = _whole_alone(found, form)
    return f" {SIGN} {rests}{alone or own_as_held_out(found, marked) * (form == CALIBRATED)}"


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

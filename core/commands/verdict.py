"""`python -m core verdict`: which measures do better than chance on one text, and what is known of why they part."""

import json
import sys
from functools import partial
from pathlib import Path

from core import settings
from core.commands.terminal import (
    Bar,
    Option,
    Options,
    add_measures,
    add_model,
    add_text,
    named_example,
    named_target,
    say_of_models,
    say_of_store,
)
from core.explanation.standings import COMPREHENSIVENESS, DIRECTIONS
from core.measures.catalogue import default_measures
from core.network.features import UNITS
from core.oracle.erasing import ERASURES, MASK
from core.validity.marks import HOLM, MEANING, RULES, SIGN
from core.validity.references import CALIBRATED, FORMS

HELP = "verdict of each measure on one text: is its order better than that of chance?"
GOES_ON = "What was scored is kept; the same command goes on from there."
_ENDINGS = ".json", ".csv"


def add(option: Option) -> None:
    """What it takes."""
    add_model(option, "sst2-fmm")
    add_text(option)
    add_measures(option, "to judge", default_measures())
    option("--unit", choices=UNITS, default="word", help="what is masked as one piece")
    option("--direction", choices=DIRECTIONS, default=COMPREHENSIVENESS, help="of AOPC; sufficiency: lower is better")
    option("--orders", type=int, help="random orders; else 99, and more where Holm over the measures needs them")
    option("--erasures", nargs="+", choices=ERASURES, default=[MASK], help="how words are erased, side by side")
    option("--causes", action="store_true", help="also look for why measures fail, which takes a few times as long")
    option("--rule", choices=tuple(RULES), default=HOLM, help="by which inputs along an order are rejected")
    option("--form", choices=FORMS, default=CALIBRATED, help="of the test")
    option("--out", help="file to write the verdicts to: .csv, or .json with where they come from")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.explanation.explainer import with_reference
    from core.loading.loading import load
    from core.oracle.erasing import require_erasure
    from core.oracle.target import target_name
    from core.reports.exports import provenance
    from core.storage.store import Store

    example, data, digest = named_example(options)
    _refuse(options)
    chosen = settings.read()
    store, model = Store(chosen.cache, chosen.cache_bytes), load(options.model, options.device, options.precision)
    for erasure in options.erasures:
        require_erasure(model, erasure)
    say_of_models([model], partial(print, file=sys.stderr))
    explainer = with_reference(model, store, chosen.cache)
    encoded = explainer.encode(example.text, example.second, options.unit)
    target = named_target(options, model.labels, int(explainer.logits(encoded).argmax()))
    with Bar() as bar:
        reports = _reports(options, explainer, encoded, target, bar)
        say_of_store(store, bar.say)
    print(f"{example.id}, {target_name(model.labels, target)}:")
    _print(reports, encoded)
    if options.out:
        _write(Path(options.out), reports, provenance(model, encoded, example, data, digest, target))
    return 0


def _reports(options: Options, explainer, encoded, target, bar) -> dict:
    """{erasure: report}; the causes, where they are asked for, of the first."""
    from core.explanation.standings import StandingGates
    from core.mathematics.stepwise import finish
    from core.verdicts.deciding import Reasons, decide_verdicts
    from core.verdicts.finding import find_chance
    from core.verdicts.reasons import find_reasons, find_unstable

    gating = StandingGates(encoded, explainer.reference, options.rule, options.form)
    found = {}
    for erasure in dict.fromkeys(options.erasures):
        finding = find_chance(
            explainer,
            encoded,
            target,
            options.measures,
            options.sign,
            draws=options.orders,
            directions=(options.direction,),
            erasure=erasure,
            progress=partial(bar, f"random orders, {erasure}"),
        )
        test = finish(finding)
        about = explainer, encoded, target, options.measures, options.sign
        known = Reasons(unstable=find_unstable(*about))
        if options.causes and not found:
            known = find_reasons(*about, options.rule, options.form)
        found[erasure] = decide_verdicts(test, gating, known, options.direction)
    return found


def _refuse(options: Options) -> None:
    from core.measures.catalogue import measures
    from core.wording import refuse_unknown

    refuse_unknown(("measure", options.measures, measures()))
    if not options.measures:
        raise ValueError("name at least one measure by --measures")
    if options.orders is not None and options.orders < 1:
        raise ValueError(f"--orders is at least 1, not {options.orders}")
    if options.out and Path(options.out).suffix not in _ENDINGS:
        raise ValueError(f"--out ends in {' or '.join(_ENDINGS)}, not {Path(options.out).suffix or 'nothing'}")


def _print(reports: dict, encoded) -> None:
    from core.reports.exports import visible
    from core.verdicts.operators import operators_sentence
    from core.verdicts.telling import COLUMNS, believe_sentence, chance_sentence, verdict_cells
    from core.wording import text_table, without_markup

    for erasure, report in reports.items():
        rows = [[visible(cell) for cell in verdict_cells(report, one)] for one in report.verdicts]
        print(
            ("" if len(reports) == 1 else f"\n{erasure}\n") + visible(without_markup(believe_sentence(report, encoded)))
        )
        print("\n" + text_table(COLUMNS, rows))
        marked = any(SIGN in cell for row in rows for cell in row)
        print(f"\n{chance_sentence(report)}" + (f" {MEANING}" if marked else ""))
    if len(reports) > 1:
        print("\n" + without_markup(operators_sentence(reports)))


def _write(out: Path, reports: dict, facts: dict) -> None:
    from core.reports.exports import csv_text
    from core.storage.files import write_whole
    from core.verdicts.telling import RECORDED, as_plain, verdict_line

    lines = [verdict_line(report, one) for report in reports.values() for one in report.verdicts]
    text = (
        json.dumps(facts | {"verdicts": [as_plain(report) for report in reports.values()]}, indent=1)
        if out.suffix == ".json"
        else csv_text([*RECORDED, *facts], ([*line, *facts.values()] for line in lines))
    )
    write_whole(out, text.encode("utf-8"))
    print(f"Written: {out}")

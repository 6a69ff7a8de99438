"""What `python -m core explain` tells of one text over the seeds of a family."""

from argparse import Namespace
from functools import partial
from typing import Any

from core.commands.terminal import Bar, OneText
from core.explanation.explainer import Explainer
from core.explanation.limiting import left_over
from core.loading.loading import load
from core.loading.locating import member_names
from core.mathematics.stepwise import finish
from core.network.features import Encoded
from core.reports.answers import Section
from core.results.seed_stability import seed_stability_result
from core.stability.seeds import COLUMNS, TOP, WORDS, compare_seeds


def seeds_section(options: Namespace, one: OneText, bar: Bar) -> tuple[list[Section], list[list[Any]]]:
    """How far attributions move from seed to seed, and lines of a file; none of one model, nor of three words."""
    members = member_names(one.explainer.model.origin)
    if not members or not options.measures or left_over(one.encoded) <= TOP:
        return [], []
    store, device, precision = one.explainer.store, options.device, options.precision

    def opened(name: str) -> Explainer:
        return Explainer(load(name, device, precision), store)

    def read(explainer: Explainer) -> Encoded:
        return explainer.encode(one.example.text, one.example.second, options.unit, options.maskable)

    about = opened, members, one.encoded, read, one.target, options.measures, options.sign
    found = finish(compare_seeds(*about, progress=partial(bar, "seeds")))
    tables = (COLUMNS, [each.cells() for each in found]), (WORDS, [row for each in found for row in each.word_cells()])
    section = Section("seed stability", seed_stability_result(found), tables)
    return [section], [line for each in found for line in each.lines()]

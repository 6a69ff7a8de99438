"""What ships computed: the strip on Home, and what the tour, *Examples*, *Model check*, *Data set* and *Scoreboard*
show of the bundled models and data.

    python -m tests.shipping strip | crossing | results [--store FOLDER] [--anew]

The strip is a sentence chosen by a rule (`tests.shipped_work.chosen`), masked step by step under the bundled model and under its twin.
The crossing is the example of the tour's stop on AOPC and NAOPC, chosen by a rule as well (`crossing`).
The results are files of a store: pages are opened until nothing on them waits, then opened again with empty caches, and
what that second visit reads is packed into one archive, rows of studies in single precision. What ships already stays as
it is, byte by byte, unless `--anew`. A store that is given holds what earlier runs and `tests.shipped_work` computed, so
that a run goes on where one stopped.
"""

import argparse
import contextlib
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from unittest import mock

import numpy as np
import streamlit as st

from core.data.examples import FIRST_REVIEWS, HARD_REVIEWS, Example, first_example, read_bundled
from core.evaluation.asking import run_study
from core.evaluation.engine import Run
from core.evaluation.sampling import SCORED, without_labels
from core.evaluation.store_log import StoreLog, short_name
from core.evaluation.studies.verdicts import VALUES, VerdictsOfTexts
from core.explanation.explainer import Explainer
from core.explanation.limiting import find_exact, score
from core.explanation.recursive import BY_RATIO
from core.explanation.rows import build_row
from core.explanation.standings import (
    COMPREHENSIVENESS,
    StandingGates,
    StandingTable,
    build_standings,
    compare_standings,
)
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, measure, swept_measures
from core.network.scheduler import Counters
from core.settings import BUNDLED
from core.storage.shipped import RESULTS, Shipped
from core.storage.store import Store
from core.validity.references import CALIBRATED
from core.verdicts.deciding import Word
from pages.parts.frame import resources
from pages.parts.frame.tour import STOPS, STRIP
from tests.app_session import App
from tests.archives import write_shipped
from tests.shipped_work import (
    BOARD,
    CHECK,
    LIMITS,
    MASKED,
    MEASURE,
    PLAIN,
    RETRAINING,
    SWEPT_VERDICTS,
    VERDICTS,
    WORDS,
    explainers,
    plan,
    walk,
)

# Tokens a second of a device of ordinary speed.
RATE = 8_000.0


def strip(explainer: Explainer, identity: str, data: str) -> dict:
    """What `pages.parts.frame.tour` reads: one example as each measure colours it, and masked step by step."""
    from core.explanation.rows import pieces
    from pages.parts.frame.sidebar import View
    from pages.parts.sections.paths import Choice, Path
    from pages.parts.sections.sides import RECURSIVE, Orders
    from pages.parts.steps.stepping import frame, pane

    example = next(one for one in read_bundled(data) if one.id == identity)
    choice = Choice((MEASURE,), MEASURE, "signed", BY_RATIO, RECURSIVE, "Holm", CALIBRATED)
    one = walk(explainer, example.text, MEASURE)
    likely = one.explainer.probabilities(one.encoded)
    view = View(one.explainer, one.encoded, example, data, None, likely, one.target, places=None)
    path = Path(view, MEASURE, choice, Orders(view, BY_RATIO))
    shown = frame(f"strip-{identity}", one.encoded, pieces(one.encoded, ()), path.names, 0, [pane(path, one.summary)])
    return {
        "model": explainer.model.name,
        "data": data,
        "example": identity,
        "predicted": explainer.model.labels[one.target],
        "rows": rows_of(explainer, example),
        "shown": shown | {"title": f"Words masked step by step by {MEASURE}"},
    }


def rows_of(explainer: Explainer, example: Example) -> list[dict]:
    """What each of the measures shown unasked says of an example, and whether it is to be believed."""
    encoded = explainer.encode(example.text, None, "word")
    target, words = int(explainer.probabilities(encoded).argmax()), verdicts_on(explainer, example)
    found = []
    for name in default_measures():
        row = build_row(measure(name), explainer.attribute(encoded, name, target), "signed", encoded.premasked)
        # Four digits are more than a colour shows.
        scores = [float(f"{one:.4g}") for one in row.scores]
        found.append({"measure": name, "variant": row.variant, "scores": scores, "word": words[name].name})
    return found


def write_strip(folder: Path, store: Store) -> str:
    """Write the strip; the id of its example."""
    identity = str(first_example(FIRST_REVIEWS))
    target = BUNDLED / "computed" / "strip.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(
        json.dumps(strip(explainers(store, folder)[MASKED], identity, FIRST_REVIEWS), ensure_ascii=False, indent=None)
        + "\n",
        encoding="utf-8",
    )
    return identity


# Features, of which a comma is one too, up to which exact limits take a moment on any machine.
FEW = 9


def sides(models: dict[str, Explainer], text: str) -> dict[str, StandingTable] | None:
    """Where the measures shown unasked stand between the exact limits of each model; None where the models predict
    different classes, or the text has more than `FEW` features.
    """
    encoded = {name: explainer.encode(text, None, "word") for name, explainer in models.items()}
    targets = {name: int(models[name].probabilities(one).argmax()) for name, one in encoded.items()}
    if len(set(targets.values())) > 1 or max(one.F for one in encoded.values()) > FEW:
        return None
    found = {}
    for name, explainer in models.items():
        one, target = encoded[name], targets[name]
        scores = [score(explainer, one, measure, target) for measure in default_measures()]
        limits = finish(find_exact(explainer, one, target, 1 << FEW))
        found[name] = build_standings(limits, scores, None, target, StandingGates(one, explainer.reference))
    return found


def crossing(models: dict[str, Explainer]) -> list[tuple[bool, bool, float, str]]:
    """(whether no measure that crosses is better than chance under the model that was trained to be masked, whether
    anything rests on rejected inputs, apart, id) of the bundled reviews on which normalising changes which model is
    ahead by comprehensiveness, or whether one is, the tour's first: those with a measure to believe before others,
    unmarked before marked, then by how much further apart the two are after it, for the measure for which that is most.

    Under the model that was trained to be masked nothing rests on rejected inputs.
    """
    ranked = []
    for example in read_bundled("reviews"):
        boards = sides(models, example.text) if len(example.text.split()) <= FEW else None
        compared = boards and compare_standings(boards, COMPREHENSIVENESS)
        if not compared or not compared.changed:
            continue
        marked = {name: any(one.marked for one in compared.placed if one.model == name) for name in models}
        apart = max(
            abs(first.naopc - second.naopc) - abs(first.aopc - second.aopc)
            for first in compared.placed
            for second in compared.placed
            if first.measure == second.measure and first.measure in compared.changed and first.model != second.model
        )
        if not marked[MASKED]:
            doubted = believed(models[MASKED], example).isdisjoint(compared.changed)
            ranked.append((doubted, marked[PLAIN], apart, example.id))
    return sorted(ranked, key=lambda one: (*one[:2], -one[2]))


def verdicts_on(explainer: Explainer, example: Example) -> dict[str, Word]:
    """The verdicts of the measures shown unasked on an example."""
    asked = VerdictsOfTexts(default_measures())
    found = finish(run_study(explainer, without_labels("one", "0" * 64, (example,)), asked))
    told = {value: word for word, value in VALUES.items() if word != Word.UNTOLD}
    return {name: told.get(value, Word.UNTOLD) for name, value in zip(asked.measures, found.columns["word"][0])}


def believed(explainer: Explainer, example: Example) -> set[str]:
    """Those of them whose order is better than chance."""
    return {name for name, word in verdicts_on(explainer, example).items() if word == Word.BETTER}


# The pages of what is computed over data, and how they are opened for it.
PAGE_OF = {CHECK: "pages/model_check.py", BOARD: "pages/scoreboard.py"} | dict.fromkeys(
    (VERDICTS, SWEPT_VERDICTS, RETRAINING, WORDS, LIMITS), "pages/data_set.py"
)
# What is asked for on a page of all that it offers, a pattern of labels: nothing, all of it, or what tells whom to believe.
NOTHING, EVERYTHING, BELIEVED = "(?!)", "", "^Compute (insertion search limits|verdicts)"
# Pages beside the tour's stops whose numbers ship, the most wanted first, and what is asked for there.
FIRST = {"model": "sst2-fmm", "data": HARD_REVIEWS, "example": first_example(HARD_REVIEWS)}
ORDINARY = {"model": "sst2-fmm", "data": FIRST_REVIEWS, "example": first_example(FIRST_REVIEWS)}
SWEPT = {"measures": swept_measures()}
CHOICES_OF = {
    SWEPT_VERDICTS: {"sample": str(SCORED)} | SWEPT,
    BOARD: {"on": "a sample of the data"},
    RETRAINING: {"section": "retraining"},
    WORDS: {"section": "words"},
    LIMITS: {"section": "limits"},
}
PAGES: tuple[tuple[str, dict[str, Any], str], ...] = (
    # The example that every page begins with.
    ("pages/attributions.py", FIRST | {"says": "which measures to believe"}, NOTHING),
    ("pages/recursive_masking.py", FIRST, NOTHING),
    ("pages/aopc_and_naopc.py", FIRST, NOTHING),
    ("pages/aopc_and_naopc.py", {"model": "stories-1-fmm", "data": "stories 1", "example": "s1-025"}, BELIEVED),
    ("pages/examples.py", {"model": "sst2-fmm", "data": "contrast pairs"}, NOTHING),
    ("pages/examples.py", {"model": "ag-news-fmm", "data": "news"}, NOTHING),
    *(
        ("pages/examples.py", {"model": f"stories-{task}-fmm", "data": f"stories {task}"}, NOTHING)
        for task in (1, 2, 3)
    ),
    ("pages/model_check.py", {"model": "sst2-fmm", "data": "reviews"}, EVERYTHING),
    ("pages/data_set.py", {"model": "sst2-fmm", "data": "reviews"}, EVERYTHING),
    ("pages/data_set.py", {"model": "sst2-fmm", "data": "reviews", "section": "diagnosticity"}, EVERYTHING),
    # Verdicts of all measures of a scoreboard, on as many texts as it begins with, and the scoreboard.
    ("pages/data_set.py", {"model": "sst2-fmm", "data": "reviews", "sample": str(SCORED)} | SWEPT, EVERYTHING),
    ("pages/scoreboard.py", {"model": "sst2-fmm", "data": "reviews", "on": "a sample of the data"}, EVERYTHING),
    ("pages/attributions.py", ORDINARY | {"says": "which measures to believe"}, NOTHING),
    ("pages/recursive_masking.py", ORDINARY, NOTHING),
    ("pages/aopc_and_naopc.py", ORDINARY, NOTHING),
    ("pages/examples.py", {"model": "sst2-fmm", "data": FIRST_REVIEWS}, NOTHING),
    # What `tests.shipped_work` computes, as pages open on it; the rest of a sample waits to be asked for.
    *(
        (PAGE_OF[one.what], {"model": one.model, "data": one.data} | CHOICES_OF.get(one.what, {}), NOTHING)
        for one in plan()
    ),
    # The first texts of a sample, which begin unasked.
    *(
        ("pages/data_set.py", {"model": MASKED, "data": FIRST_REVIEWS, "section": section}, NOTHING)
        for section in ("scores", "diagnosticity")
    ),
)
# What ships may be as large as this with the strip; pages that do not fit are left out, the last first.
MOST_BYTES = 2_600_000


@dataclass
class Visit:
    """A page that was opened: places below the store's root of the files that it was the first to read, and the runs of
    studies that it read.
    """

    page: str
    choices: dict[str, Any]
    files: set[str] = field(default_factory=set)
    runs: list[Run] = field(default_factory=list)


def shown() -> Iterator[tuple[str, dict[str, Any], str]]:
    """(page, choices of its address, what is asked for there) of all whose numbers ship."""
    yield "app.py", {}, NOTHING
    for stop in STOPS:
        if stop.choices.get("data") != "own text":
            yield stop.path, stop.choices, NOTHING
    yield from PAGES


def opened(page: str, choices: dict[str, Any], asks: str) -> None:
    """Open a page as a visitor does, and stay until nothing is under way or, of what `asks` matches, waits to be asked
    for.
    """
    app = App(page, **choices)
    while True:
        while resources.jobs().active():
            time.sleep(0.2)
        app.run()
        waiting = [button for button in app.at.button if str(button.key).startswith("ask-")]
        offers = [button for button in waiting if re.search(asks, button.label)]
        if not resources.jobs().active():
            if not offers:
                return
            offers[0].click()
            app.run()


@contextlib.contextmanager
def any_machine() -> Iterator[None]:
    """What starts unasked, and in which precision limits are searched, as on a device of ordinary speed without half
    precision: else what ships would depend on the machine that computed it.
    """

    def expected(self: Counters, tokens: float, default_rate: float = RATE) -> float:
        return tokens / RATE

    with (
        mock.patch.object(Counters, "seconds_for", expected),
        mock.patch("core.network.halves.half_speed", lambda _: 0.0),
    ):
        yield


def visited(store: Path, anew: bool) -> list[Visit]:
    """Open every page whose numbers ship, with empty caches; anew: on nothing that ships."""
    st.cache_resource.clear()
    untold, unnoted, visits = Store._read, Run.read, []

    def noted(self: Store, path: Path, unpack: Any) -> Any:
        found = untold(self, path, unpack)
        if found is not None:
            visits[-1].files.add(path.relative_to(self.root).as_posix())
        return found

    def noted_rows(self: Run) -> None:
        unnoted(self)
        if isinstance(self.log, StoreLog) and self.known.any():
            visits[-1].runs.append(self)

    with (
        mock.patch.dict(os.environ, {"FAITHSCOPE_CACHE": str(store), "FAITHSCOPE_SHIPPED": "no" if anew else "yes"}),
        mock.patch.object(Store, "_read", noted),
        mock.patch.object(Run, "read", noted_rows),
        # What begins once a tab is opened does not ship.
        mock.patch.object(App, "tabs", False),
        any_machine(),
    ):
        for page, choices, asks in shown():
            began = time.monotonic()
            visits.append(Visit(page, choices))
            opened(page, choices, asks)
            print(f"{page} {choices}: {time.monotonic() - began:.0f} s", flush=True)
    return visits


def packed(run: Run, there: set[str]) -> Iterator[Path]:
    """Pack the rows of a run that are not `there`, and add them; the file that holds them."""
    log, places = cast(StoreLog, run.log), []
    there |= {f"{log.key} {name}" for name in log.packed_names(run)}
    for i in range(len(run.sample)):
        subject = run.subject(i)
        for place, name in () if subject is None else zip(np.ndindex(*run.study.parts), run.study.row_keys(subject)):
            if run.known[(i, *place)] and (named := f"{log.key} {short_name(name)}") not in there:
                places.append((i, place))
                there.add(named)
    if places:
        if "took" in run.columns:
            # Milliseconds of this machine are nobody else's.
            run.columns["took"][..., 1] = np.nan
        if "seconds" in run.columns:
            run.columns["seconds"][:] = np.nan
        folder = log.folders[1]
        before = set(folder.glob("*"))
        log.pack(run, places)
        yield from set(folder.glob("*")) - before


def write_results(root: Path, anew: bool) -> int:
    """Write the archive, and say what each page adds to it; its bytes."""
    kept = {} if anew else Shipped(RESULTS).everything()
    visited(root, anew)
    visits = visited(root, anew)
    logs = {path for visit in visits for run in visit.runs for path in cast(StoreLog, run.log).folders}
    # What the store holds packed, of an archive that was unpacked there, is packed anew.
    for packs in {cast(StoreLog, run.log).folders[1] for visit in visits for run in visit.runs}:
        for path in packs.glob("*"):
            path.unlink()
    there, names, made, size = set(), set(), [], 0
    for visit in visits:
        mine = [path for run in visit.runs for path in packed(run, there)]
        made += mine
        files = {name for name in visit.files if (root / name).parent not in logs}
        files |= {path.relative_to(root).as_posix() for path in mine}
        with_it = write_shipped(root, names | files, RESULTS, kept)
        if with_it + STRIP.stat().st_size > MOST_BYTES:
            print(f"left out: {visit.page} {visit.choices}: {with_it - size:,} bytes", flush=True)
            continue
        print(f"{visit.page} {visit.choices}: {with_it - size:,} bytes", flush=True)
        names, size = names | files, with_it
    size = write_shipped(root, names, RESULTS, kept)
    for path in made:
        path.unlink()
    return size


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.shipping", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("strip", "crossing", "results"))
    parser.add_argument("--store", type=Path, help="what earlier runs computed (default: nothing)")
    parser.add_argument("--anew", action="store_true", help="results: without what ships already")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        where = asked.store or Path(temporary)
        if asked.what == "strip":
            print(write_strip(where / "references", Store(where)))
        elif asked.what == "crossing":
            print(*crossing(explainers(Store(where), where / "references")), sep="\n")
        else:
            print(f"{write_results(where, asked.anew):,} bytes")

"""The tab Make it measurable: an adapter trained with masking on the data of the page, or calibrated logits."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from core.data.parsed import BadData
from core.explanation.explainer import Cost
from core.job import Job
from core.network.model import CALIBRATION
from core.network.scheduler import THERE_AND_BACK, Cancelled
from core.storage.files import InUse
from core.storage.store import canonical_key
from core.training.own_data import HELD_OUT, keep_held_out, labelled_places, train_on
from core.wording import amount, plain
from pages.parts.components.presses import pressed
from pages.parts.frame import resources
from pages.parts.frame.links import choose, choose_one, forget
from pages.parts.frame.pages import CHECK_TABS
from pages.parts.frame.picking import Browsed
from pages.parts.frame.sidebar import DataView
from pages.parts.frame.working import Work
from pages.parts.sections.asking import show_beside
from pages.parts.sections.streaming import stream

ADAPTER, EPOCHS = "masked fine-tuning", ("1", "2", "5")
_HELP = "Fine-tuning trains an adapter; calibration repairs the logits alone, and hidden states stay rejected."
# What measuring the result reads of each validation text.
_MEASURED = 14
# Seconds that a training waits for another that writes its folder.
_GIVES_WAY = 60.0


@dataclass(frozen=True, eq=False)
class Making(Work):
    """One training from the model of the page; its result is the folder of the new model."""

    frame: DataView
    browsed: Browsed
    way: str
    epochs: int
    batch = first = True
    asks, asks_again = "Start {label}", "Go on with {label}"
    kept = "Cancelled; finished epochs are kept, and starting again goes on from there."

    @property
    def key(self) -> str:
        data, model = self.browsed.index.data, self.frame.explainer.model
        about = {"model": model.digest, "data": data.digest, "classes": self.browsed.match.classes}
        return canonical_key("job/making", 1, **about, way=self.way, epochs=self.epochs)

    @property
    def label(self) -> str:
        return f"{self.way} ({self.frame.explainer.model.name}, {amount(len(self.places), 'text')})"

    @property
    def places(self) -> list[int]:
        """The texts that it learns from or is chosen by."""
        return labelled_places(self.browsed.index.data, self.browsed.match.classes)

    @property
    def folder(self) -> Path:
        """Where the model comes to lie: the same for the same training, which goes on there."""
        origin = self.frame.explainer.model.origin or self.frame.explainer.model.name
        name = f"{Path(origin).name}-{'calibrated' if self.way == CALIBRATION else 'measurable'}-{self.key[:6]}"
        return resources.chosen_settings().cache / "trained" / name

    @property
    def cost(self) -> Cost:
        texts = len(self.places)
        model, held = self.frame.explainer.model, texts // HELD_OUT
        trained = 5 * texts if self.way == CALIBRATION else self.epochs * (THERE_AND_BACK * texts + 2 * held)
        lengths = [self.browsed.index.lengths[i] for i in self.places]
        # Words, of which most are one token or two.
        tokens = min(1.3 * sum(map(int, lengths)) / texts + 2, model.max_tokens)
        passes = trained + _MEASURED * held
        return Cost.of(passes, passes * tokens, model.scheduler.counters)

    @property
    def at_once(self) -> bool:
        return False

    def run(self, job: Job) -> str:
        """Train, and put the model on the list; a restart goes on after the last epoch."""
        classes = self.browsed.match.classes
        method = CALIBRATION if self.way == CALIBRATION else "lora"
        asked = self.browsed.index.data, classes, self.frame.explainer.model, self.folder
        steps, until = _Steps(self, job), time.monotonic() + _GIVES_WAY
        while True:
            try:
                out = train_on(*asked, steps, steps.hear, method=method, epochs=self.epochs)
                break
            except InUse:
                # One that was cancelled comes to its end first; another process may take longer.
                if time.monotonic() > until:
                    raise
                _stop(job)
                time.sleep(0.2)
        resources.library().add_model(str(out))
        return str(out)


def _stop(job: Job) -> None:
    if job.cancelled():
        raise Cancelled


class _Steps:
    """Progress of a training as that of a job: by the work of each phase, as `Making.cost` counts it."""

    def __init__(self, work: Making, job: Job):
        self.job, self.lines, self.total = job, list[str](), work.cost.passes
        self.texts, self.held = len(work.places), len(work.places) // HELD_OUT
        self.phase, self.before, self.now = "", 0.0, 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        _stop(self.job)
        phase = what.partition(",")[0]
        if phase != self.phase or done == 1:
            self.phase, self.before, self.now = phase, self.before + self.now, 0.0
        share = {"epoch": THERE_AND_BACK * self.texts, "calibrating": 4 * self.texts, "measuring": 11 * self.held}
        self.now = share.get(phase.partition(" ")[0], self.held) * done / total
        self.job.partial = (what, tuple(self.lines))
        self.job.report(min(round(self.before + self.now), self.total), self.total)

    def hear(self, line: str) -> None:
        """What an epoch reached; the data was read before."""
        if self.phase:
            self.lines.append(line)


def measurable_tab(frame: DataView) -> None:
    """Draw the tab: what to do and on what, cost first; then how it comes along, and the way to the comparison."""
    browsed = frame.browsed
    with st.container(horizontal=True, vertical_alignment="bottom"):
        way = choose_one("How", (ADAPTER, CALIBRATION), ADAPTER, "way", _HELP)
        epochs = EPOCHS[1] if way == CALIBRATION else choose_one("Epochs", EPOCHS, EPOCHS[1], "epochs")
    work = Making(frame, browsed, way, int(epochs))
    try:
        count = len(work.places)
    except BadData as error:
        st.info(plain(str(error)), icon=":material/info:")
        return
    name = plain(browsed.index.data.name)
    st.caption(f"{name}: {amount(count, 'labelled text')}, every {HELD_OUT}th for validation.")
    stream([work], (st.container(), partial(_draw, work)), rests_on=lambda: work.latest, name="making")


def _draw(work: Making, asks: Callable[[], None]) -> None:
    found: Any = work.latest
    if isinstance(found, tuple):
        for line in (*found[1], found[0]):
            st.caption(plain(line))
    asks()
    if work.complete and isinstance(found, str):
        _lead_on(work, found)


def _lead_on(work: Making, made: str) -> None:
    """The way to old beside new."""
    st.success(f"Kept as {plain(Path(made).name)}", icon=":material/check:")
    if pressed(st.button, "Compare with the old", "made", type="primary"):
        show_beside(made, [work.frame.explainer.model.origin or work.frame.explainer.model.name])
        # On texts that it learnt from the new one would look better than it is.
        choose("data", keep_held_out(resources.library(), work.browsed.index.data, Path(made)))
        # Its first tab has both models.
        forget("part")
        st.session_state.pop(CHECK_TABS, None)
        st.rerun()

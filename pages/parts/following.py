"""Follow masking paths as jobs: what is asked for, how far it is, and what it says in words and rows."""

import time
from dataclasses import dataclass

from core.composition.explaining import Cost
from core.composition.recursive import Band, Step, Summary, band_cost, follow, path_cost, random_band
from core.mathematics.gate import Gate
from core.network.architectures import UnsupportedModel
from core.network.features import NoFeatures
from core.network.references import FORMS, how_to_fit
from core.network.scheduler import NonFinite, OutOfMemory
from core.network.store import canonical_key
from pages.parts import resources
from pages.parts.sidebar import View
from pages.parts.stepping import Side, gate_text, smallest, step_names
from pages.parts.wording import escaped, number, plain

# What takes longer waits to be asked for.
AT_ONCE_SECONDS = 10.0
# What lies in the store is there within this; then the page need not be drawn twice.
_PATIENCE = 0.35
STEP_COLUMNS = ["model", "measure", "values", "computed", "step", "share masked (0 to 1)", "features masked", "masked features", "explained class", "probability of it",
                "predicted class", "p (calibrated)", "p (literal)", "rejected as out-of-distribution", "at or after the first rejected step",
                "rule of the gate", "form of the gate"]


class _Work:
    """What paths and random orders have in common: a job, found by its key."""

    @property
    def job(self):
        return resources.jobs().find(self.key)

    @property
    def complete(self) -> bool:
        job = self.job
        return job is not None and job.state == "done"

    @property
    def runs(self) -> bool:
        """Whether it is being computed or waits for its turn."""
        job = self.job
        return job is not None and job.active and not job.cancelled()

    @property
    def begun(self) -> bool:
        """Whether something of it is computed, so that asking again goes on from there."""
        job = self.job
        return job is not None and job.done > 0

    @property
    def progress(self) -> tuple[int, int]:
        """What is done, and all."""
        job = self.job
        return (0, 1) if job is None or not job.total else (job.done, job.total)

    def cancel(self) -> None:
        """Stop at the next batch; what is computed stays."""
        if self.job is not None:
            self.job.cancel()

    def ask(self) -> None:
        """Start the job, or let the one that is there go on."""
        resources.jobs().submit(self.key, self.label, self.work)


@dataclass(frozen=True, eq=False)
class Path(_Work):
    """One measure's path under one model."""

    side: Side
    measure: str
    sign: str
    step: str
    recompute: bool

    @property
    def key(self) -> str:
        return canonical_key("job/path", 1, **_about(self.side), measure=self.measure, sign=self.sign, target=self.side.target, step=self.step, recompute=self.recompute)

    @property
    def label(self) -> str:
        return f"{self.measure} ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        return path_cost(self.side.explainer, self.side.encoded, self.measure, self.step, self.recompute)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far; a cancelled path keeps its own."""
        job = self.job
        return () if job is None else (job.result if job.state == "done" else job.partial) or ()

    def work(self, job):
        """What the job does."""
        side = self.side
        return follow(side.explainer, side.encoded, self.measure, side.target, self.sign, self.step, self.recompute, progress=job.report, cancelled=job.cancelled)


@dataclass(frozen=True, eq=False)
class Orders(_Work):
    """The random orders of one example under one model."""

    side: Side
    step: str

    @property
    def key(self) -> str:
        return canonical_key("job/random orders", 1, **_about(self.side), step=self.step)

    @property
    def label(self) -> str:
        return f"random orders ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        return band_cost(self.side.explainer, self.side.encoded, self.step)

    @property
    def band(self) -> Band | None:
        job = self.job
        return job.result if job is not None and job.state == "done" else None

    def work(self, job):
        """What the job does."""
        return random_band(self.side.explainer, self.side.encoded, self.step, progress=job.report, cancelled=job.cancelled)


def start(works: list[_Work]) -> None:
    """Start what is cheap and was not asked for yet, and wait a moment for what only has to be read."""
    for work in works:
        if work.job is None and work.cost.seconds <= AT_ONCE_SECONDS:
            work.ask()
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and going(works):
        time.sleep(0.02)


def going(works: list[_Work]) -> bool:
    """Whether any of them is being computed, or waits for its turn."""
    return any(work.job is not None and work.job.active for work in works)


def other_side(view: View, name: str) -> tuple[Side | None, str]:
    """A second model at the same example, or None and a sentence on why the two cannot share one scrubber."""
    try:
        explainer = resources.explainer(name)
        encoded = explainer.encode(view.example.text, view.example.second, view.encoded.unit)
        likely = int(explainer.probabilities(encoded).argmax())
    except (UnsupportedModel, NoFeatures, NonFinite, OutOfMemory) as error:
        return None, f"{name} cannot stand beside it: {error}"
    if [f.text for f in encoded.features] != [f.text for f in view.encoded.features] or (encoded.premasked != view.encoded.premasked).any():
        return None, (f"{name} cannot stand beside it: it cuts this text into other {view.encoded.unit}s, or reads less of it. "
                      "Choose the unit “word”, or a shorter text.")
    labels = explainer.model.labels
    return Side(explainer, encoded, labels.index(view.class_name) if view.class_name in labels else likely), ""


def step_of(value: str | None, count: int) -> int:
    """A step out of an address; 0 for what is none."""
    return min(int(value), count - 1) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6 else 0


def answer(paths: list[Path], played: str, found: dict[Path, Summary], form: str) -> str:
    """The page's result in a sentence or two, HTML in which all text is escaped."""
    asked = [path for path in paths if path.measure == played]
    if not asked:
        return "Choose a measure in the settings below to see what masking does."
    first, mine = asked[0], {path: found[path] for path in asked if path in found}
    if first not in mine:
        return f"{escaped(played)} is being computed." if first.runs else f"Ask for {escaped(played)} below to see what masking does."
    said = f"{_flip(first, mine[first])}{_validity(first, mine[first], form)}"
    for path, summary in mine.items():
        if path is not first:
            said += f" Beside it, <b>{escaped(path.side.model.name)}</b>: {_short(path, summary, form)}."
    return said


def in_words(mine: dict[Path, Summary]) -> str:
    """The figure for those who do not see it."""
    parts = [f"{path.measure}: probability {', '.join(number(value) for value in summary.values)}" for path, summary in mine.items()]
    return f"Probability of the explained class at each masking step. {'; '.join(parts)}."


def table_row(path: Path, summary: Summary, form: str) -> list[str]:
    """A path as a row of the page's table; ⚠ marks what rests on rejected inputs."""
    names, gate = _names(path), summary.gate
    flip = "not yet" if not summary.complete else "never"
    if summary.flips is not None:
        flip = f"{names[summary.flips]['name']}{' ⚠' if gate.beyond(summary.flips) else ''}"
    mark = " ⚠" if summary.marked else ""
    return [path.side.model.name, path.measure, flip, f"{number(summary.racu)}{mark}", f"{number(summary.acu)}{mark}", number(smallest(summary.steps, form)),
            _gate_short(summary, names)]


def step_rows(path: Path, summary: Summary, form: str) -> list[list]:
    """A path's steps for a CSV file, see STEP_COLUMNS."""
    side, rows = path.side, []
    for i, step in enumerate(summary.steps):
        words = " ".join(feature.text for feature, masked in zip(side.encoded.features, step.mask) if masked)
        rows.append([side.model.name, path.measure, path.sign, "at each step" if path.recompute else "once", i, float(summary.x[i]), step.count, words, side.class_name,
                     float(summary.values[i]), side.model.labels[int(step.logits.argmax())], *(step.p.get(form, "") for form in FORMS),
                     _told(summary.gate, bool(summary.gate.rejected[i])), _told(summary.gate, summary.gate.beyond(i)),
                     summary.gate.rule, form])
    return rows


def reference_in_short(side: Side, form: str) -> str:
    """What the p-values of a model are worth, in a line."""
    reference = side.reference
    if reference is None:
        return "About the p-values: there is no reference"
    rejected = reference.false_rejections(form)
    rejects = f"; falsely rejected ↓: {rejected}" if rejected else ""
    return f"About the p-values of {plain(side.model.name)}: smallest p {number(reference.floor(form))} ↓{rejects}"


def without_reference(side: Side) -> str:
    """What to do about a model that has no reference, or none that can be used."""
    if side.explainer.reference_problem:
        return side.explainer.reference_problem
    return (f"{side.model.name} has no MaSF reference, so nothing is known here about whether its masked inputs are in-distribution; everything else works. "
            f"{how_to_fit(side.model)}")


def reference_notes(side: Side) -> list[str]:
    """Sentences where p-values may be off: a text of another length than the reference's, or another precision."""
    if side.reference is None:
        return []
    notes, fitted = [side.reference.length_note(side.encoded.T)], side.reference.about["precision"]
    if fitted != side.model.precision:
        notes.append(f"The reference was computed in {fitted} and the model now runs in {side.model.precision}; p-values may be off for that alone.")
    return [note for note in notes if note]


def _about(side: Side) -> dict:
    return {"model": side.model.digest, "precision": side.model.precision, "example": side.encoded.digest,
            "reference": None if side.reference is None else side.reference.digest}


def _names(path: Path) -> list[dict]:
    encoded = path.side.encoded
    return step_names(encoded.F, encoded.unit, path.step, int(encoded.premasked.sum()))


def _flip(path: Path, summary: Summary) -> str:
    encoded, measure = path.side.encoded, f"<b>{escaped(path.measure)}</b>"
    if summary.flips is None:
        if not summary.complete:
            return f"Masking what {measure} ranks first has not changed that so far"
        return f"Masking what {measure} ranks first never changes that, not even with every {encoded.unit} masked"
    step = summary.steps[summary.flips]
    words = [f"<b>{escaped(feature.text)}</b>" for feature, masked, before in zip(encoded.features, step.mask, encoded.premasked) if masked and not before]
    said = f"the {len(words)} {encoded.unit}s" if len(words) > 1 else f"the one {encoded.unit}"
    listed = f" ({', '.join(words)})" if len(words) <= 4 else ""
    new = path.side.model.labels[int(step.logits.argmax())]
    return f"Masking {said} that {measure} ranks first{listed} changes it to <b>{escaped(new)}</b>"


def _validity(path: Path, summary: Summary, form: str) -> str:
    gate, names = summary.gate, _names(path)
    if not gate.available:
        return f". {escaped(gate_text(gate, names, smallest(summary.steps, form)), 300)}"
    if gate.first is None:
        return f"; no step{'' if summary.complete else ' so far'} is rejected as out-of-distribution (smallest p = {number(smallest(summary.steps, form))})."
    if summary.flips is not None and gate.beyond(summary.flips):
        return f", but ⚠ inputs are rejected as out-of-distribution from {names[gate.first]['name']} on, so that change says little about the words."
    return f"; ⚠ from {names[gate.first]['name']} on its inputs are rejected as out-of-distribution."


def _short(path: Path, summary: Summary, form: str) -> str:
    so_far = "" if summary.complete else " so far"
    changed = f"the prediction does not change{so_far}" if summary.flips is None else f"the prediction changes at {_names(path)[summary.flips]['name']}"
    gate = summary.gate
    if not gate.available:
        return f"{changed}, validity unavailable"
    if gate.first is None:
        return f"{changed}, no step{so_far} is rejected (smallest p = {number(smallest(summary.steps, form))})"
    return f"{changed}, ⚠ inputs are rejected as out-of-distribution from {_names(path)[gate.first]['name']} on"


def _gate_short(summary: Summary, names: list[dict]) -> str:
    gate = summary.gate
    if not gate.available:
        return "unavailable"
    if gate.first is None and not summary.complete:
        return "not rejected so far"
    return "not rejected" if gate.first is None else f"⚠ rejected from {names[gate.first]['name']} on"


def _told(gate: Gate, value: bool) -> str:
    return ("yes" if value else "no") if gate.available else "unavailable"

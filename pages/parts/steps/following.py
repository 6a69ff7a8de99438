"""Follow masking paths as jobs: what is asked for, how far it is, and what it says in words and rows."""

from collections.abc import Callable
from dataclasses import dataclass

from core.explanation.explainer import Cost
from core.explanation.recursive import Step, Summary, follow, path_cost
from core.storage.store import canonical_key
from core.validity.marks import STEP_COLUMNS, path_aside, path_clause, path_word, step_cells, with_sign
from core.validity.references import FORMS
from core.wording import escaped, number
from pages.parts.frame.working import Work
from pages.parts.sections.sides import Side, about_side
from pages.parts.steps.stepping import naming, smallest, step_names

COLUMNS = [
    "model",
    "measure",
    "values",
    "computed",
    "step",
    "share masked (0 to 1)",
    "features masked",
    "masked features",
    "explained class",
    "probability of it",
    "predicted class",
    "p (calibrated)",
    "p (literal)",
    *STEP_COLUMNS,
]


@dataclass(frozen=True, eq=False)
class Path(Work):
    """One measure's path under one model."""

    side: Side
    measure: str
    sign: str
    step: str
    recompute: bool

    @property
    def key(self) -> str:
        return canonical_key(
            "job/path",
            1,
            **about_side(self.side),
            measure=self.measure,
            sign=self.sign,
            target=self.side.target,
            step=self.step,
            recompute=self.recompute,
        )

    @property
    def label(self) -> str:
        return f"{self.measure} ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        return path_cost(self.side.explainer, self.side.encoded, self.measure, self.step, self.recompute)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far; a cancelled path keeps its own."""
        return self.latest or ()

    def run(self, job):
        """What the job does."""
        side = self.side
        return follow(
            side.explainer,
            side.encoded,
            self.measure,
            side.target,
            self.sign,
            self.step,
            self.recompute,
            progress=job.report,
            cancelled=job.cancelled,
        )


def step_of(value: str | None, count: int) -> int:
    """A step out of an address; 0 for what is none."""
    return (
        min(int(value), count - 1)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6
        else 0
    )


def masking_answer(paths: list[Path], played: str, found: dict[Path, Summary], form: str) -> str:
    """The page's result in a sentence or two, HTML in which all text is escaped."""
    asked = [path for path in paths if path.measure == played]
    if not asked:
        return "Choose a measure in the settings below to see what masking does."
    first, mine = asked[0], {path: found[path] for path in asked if path in found}
    if first not in mine:
        return (
            f"{escaped(played)} is being computed."
            if first.runs
            else f"Ask for {escaped(played)} below to see what masking does."
        )
    said = f"{_flip(first, mine[first])}{_validity(first, mine[first], form)}"
    for path, summary in mine.items():
        if path is not first:
            said += f" Beside it, <b>{escaped(path.side.model.name)}</b>: {_short(path, summary, form)}."
    return said


def in_words(mine: dict[Path, Summary]) -> str:
    """The figure for those who do not see it."""
    parts = [
        f"{path.measure}: probability {', '.join(number(value) for value in summary.values)}"
        for path, summary in mine.items()
    ]
    return f"Probability of the explained class at each masking step. {'; '.join(parts)}."


def table_row(path: Path, summary: Summary, form: str) -> list[str]:
    """A path as a row of the page's table; what rests on rejected inputs is marked."""
    name, gate = _naming(path), summary.gate
    flip = "not yet" if not summary.complete else "never"
    if summary.flips is not None:
        flip = with_sign(name(summary.flips), gate.beyond(summary.flips))
    return [
        path.side.model.name,
        path.measure,
        flip,
        with_sign(number(summary.racu), summary.marked),
        with_sign(number(summary.acu), summary.marked),
        number(smallest(summary.steps, form)),
        path_word(gate, name, summary.complete),
    ]


def step_rows(path: Path, summary: Summary, form: str) -> list[list]:
    """A path's steps for a CSV file, see COLUMNS."""
    side, rows = path.side, []
    for i, step in enumerate(summary.steps):
        words = " ".join(feature.text for feature, masked in zip(side.encoded.features, step.mask) if masked)
        rows.append(
            [
                side.model.name,
                path.measure,
                path.sign,
                "at each step" if path.recompute else "once",
                i,
                float(summary.x[i]),
                step.count,
                words,
                side.class_name,
                float(summary.values[i]),
                side.model.labels[int(step.logits.argmax())],
                *(step.p.get(form, "") for form in FORMS),
                *step_cells(summary.gate, i, form),
            ]
        )
    return rows


def _naming(path: Path) -> Callable[[int], str]:
    encoded = path.side.encoded
    return naming(step_names(encoded.F, encoded.unit, path.step, int(encoded.premasked.sum())))


def _flip(path: Path, summary: Summary) -> str:
    encoded, measure = path.side.encoded, f"<b>{escaped(path.measure)}</b>"
    if summary.flips is None:
        if not summary.complete:
            return f"Masking what {measure} ranks first has not changed that so far"
        return f"Masking what {measure} ranks first never changes that, not even with every {encoded.unit} masked"
    step = summary.steps[summary.flips]
    words = [
        f"<b>{escaped(feature.text)}</b>"
        for feature, masked, before in zip(encoded.features, step.mask, encoded.premasked)
        if masked and not before
    ]
    said = f"the {len(words)} {encoded.unit}s" if len(words) > 1 else f"the one {encoded.unit}"
    listed = f" ({', '.join(words)})" if len(words) <= 4 else ""
    new = path.side.model.labels[int(step.logits.argmax())]
    return f"Masking {said} that {measure} ranks first{listed} changes it to <b>{escaped(new)}</b>"


def _validity(path: Path, summary: Summary, form: str) -> str:
    least = smallest(summary.steps, form)
    return path_clause(summary.gate, _naming(path), least, summary.complete, summary.flips)


def _short(path: Path, summary: Summary, form: str) -> str:
    changed = (
        f"the prediction does not change{'' if summary.complete else ' so far'}"
        if summary.flips is None
        else f"the prediction changes at {_naming(path)(summary.flips)}"
    )
    least = smallest(summary.steps, form)
    return f"{changed}, {path_aside(summary.gate, _naming(path), least, summary.complete)}"

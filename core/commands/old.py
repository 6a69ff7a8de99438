"""Names that commands had before: each asks a command of today and keeps its options, files, columns and keys."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from core.commands.options import Options
from core.commands.remade import unasked_options
from core.evaluation.sampling import SAMPLE
from core.evaluation.studies.check_question import EACH_STEP, SEEDS
from core.measures.catalogue import default_measures, measures

if TYPE_CHECKING:
    from core.commands.evaluate import Evaluated
    from core.evaluation.studies.limits_of_texts import LimitsOfTexts

_ANY = "model device precision data second text unit out"


@dataclass(frozen=True)
class Old:
    """A name of before. now: the command of today; fixed: what that is asked with; takes: its options, with spaces
    between; differs: {option: what of it is as it was before}; written: what its file holds, where no command of today
    writes such a one.
    """

    now: str
    fixed: Mapping[str, Any]
    takes: str
    differs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    written: "Callable[[Evaluated], bytes] | None" = None

    @property
    def module(self) -> ModuleType:
        """The command of today."""
        return import_module(f"core.commands.{self.now}")

    @property
    def GOES_ON(self) -> str:
        """What is said when it is interrupted."""
        return self.module.GOES_ON

    def add(self, option: Callable[..., object]) -> None:
        """What it takes."""

        def offered(flag: str, **about: Any) -> None:
            name = flag.removeprefix("--")
            if name in self.takes.split():
                option(flag, **(about | dict(self.differs.get(name, {}))))

        self.module.add(offered)

    def run(self, options: Options) -> int:
        """Carry out the command of today."""
        return self.module.run(unasked_options(self.module, **dict(self.fixed) | vars(options), old=self))


def _sampled() -> list[str]:
    """Measures that draw or step, behind those that are shown unasked."""
    return [name for name, one in measures().items() if (one.counted or one.path) and not one.baseline]


def _limits_table(found: "Evaluated") -> bytes:
    """A row for each text of the file, in its order, and each model, as Parquet; example: which text, from 1."""
    import pyarrow
    from pyarrow import parquet

    rows = []
    for k, (question, answers) in enumerate(zip(cast("Sequence[LimitsOfTexts]", found.asked), found.found)):
        model, named = answers.model, found.options.model if not k and not found.seeds else answers.model.name
        of = {(one.text, one.second): line for one, line in zip(answers.sample.examples, question.lines(answers))}
        for i, one in enumerate(found.data.examples, start=1):
            rows.append({"example": i, "model": named, "weights": model.digest} | of[one.text, one.second])
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name != "typed_special"]
    file = io.BytesIO()
    parquet.write_table(pyarrow.table({name: [row.get(name) for row in rows] for name in names}), file)
    return file.getvalue()


OLD = {
    "check": Old(
        "evaluate",
        {"what": "model check"},
        f"{_ANY} beside label measures values computed sample seed seeds",
        {
            "measures": {"default": [], "help": "measures to follow"},
            "computed": {"default": EACH_STEP},
            "sample": {"default": SAMPLE},
            "seeds": {"type": int, "choices": SEEDS, "default": SEEDS[0]},
            "out": {"help": "JSON file"},
        },
    ),
    "interactions": Old(
        "explain", {"what": ["pairs"], "measures": []}, f"{_ANY} example class than rule form sampled exact pairs"
    ),
    "limits": Old(
        "evaluate",
        {"what": "limits"},
        f"{_ANY} beside measures values class width exact-up-to full",
        {
            "data": {"help": "file of texts"},
            "measures": {"default": list(default_measures()), "nargs": "+"},
            "class": {"default": "predicted"},
            "out": {"required": True, "help": "Parquet file; resumes"},
        },
        _limits_table,
    ),
    "stability": Old(
        "explain",
        {"what": ["stability"]},
        f"{_ANY} example class than measures values runs",
        {"measures": {"default": [*default_measures(), *_sampled()]}},
    ),
    "verdict": Old(
        "explain",
        {"what": ["verdicts"]},
        f"{_ANY} example class than measures values direction orders erasures causes rule form",
    ),
}

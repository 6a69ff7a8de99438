"""Ask about a text or a data set as the commands do, with the same choices under the same names."""

import functools
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import settings
from core.commands import evaluate as evaluating
from core.commands import explain as explaining
from core.commands import terminal
from core.commands.remade import choices_of
from core.data.examples import DataSet
from core.data.tables import read_table
from core.explanation.explainer import Explainer
from core.front.answered import Answered
from core.front.explanation import DELAY, Explanation
from core.front.interrupting import whole_imports
from core.reports.answers import Answer, Section, answer_bytes
from core.storage.store import Store, open_store
from core.wording import refuse_unknown

if TYPE_CHECKING:
    from pandas import DataFrame

    from core.commands.evaluate import Evaluated


@whole_imports
def open_explainer(model: str, device: str = "auto", precision: str = "float32") -> Explainer:
    """Load a text classifier from safetensors weights, without running its code.

    Parameters
    ----------
    model : str
        Name of a bundled model, folder, hub id (``owner/name``) or LoRA adapter.
    device : str, optional
        ``"auto"``, ``"cuda"``, ``"mps"`` or ``"cpu"``.
    precision : str, optional
        ``"float32"``, ``"bfloat16"`` or ``"float16"``.

    Returns
    -------
    Explainer
        The model, with the store of what was computed before and its MaSF reference.

    Raises
    ------
    ValueError
        There is no such model, or it is not supported; the message says what to do.
    """
    return terminal.open_model(model, _store(), device, precision)


@whole_imports
def explain_text(
    model: str | Explainer,
    text: str,
    measures: Iterable[str] | None = None,
    *,
    second: str | None = None,
    **choices: Any,
) -> Explanation:
    """Compute attributions of one text.

    Parameters
    ----------
    model : str or Explainer
        Name of a model, or one that is loaded.
    text : str
        The text, as typed.
    measures : iterable of str, optional
        Importance measures such as ``"leave-one-out"`` or ``"integrated gradients [steps=50]"``.
    second : str, optional
        Second text of a pair; it is read and never masked.
    **choices
        As the options of ``python -m core explain``: ``target`` (explained class), ``unit``, ``rule``, ``form``, …

    Returns
    -------
    Explanation
        Attributions; its methods compute what else there is to know.

    Raises
    ------
    ValueError
        An unknown measure, class or choice, or a text without words.
    """
    explainer = _opened(model, choices)
    options = choices_of(explaining, choices, text=text, second=second, **_measures(measures))
    explaining.refuse_choices(options)
    bar = terminal.Bar(DELAY)
    with bar:
        return Explanation(options, terminal.text_of(options, explainer), bar)


@whole_imports
def ask_data(
    model: str | Explainer,
    data: "str | Path | DataFrame | Sequence[str] | Sequence[Mapping[str, Any]]",
    question: str = "verdicts",
    measures: Iterable[str] | None = None,
    *,
    sample: int | None = None,
    **choices: Any,
) -> "Evaluation":
    """Ask a question of a data set; what the store has is read, and an interrupted call goes on where it stopped.

    Parameters
    ----------
    model : str or Explainer
        Name of a model or of a family of seeds, or a model that is loaded.
    data : str, Path, DataFrame or sequence
        Name of a bundled set, a file, a table with a column of texts, or texts.
    question : str, optional
        As ``python -m core evaluate --what``: ``"verdicts"``, ``"scores"``, ``"model check"``, …
    measures : iterable of str, optional
        Importance measures.
    sample : int, optional
        Number of texts, drawn by ``seed``; all of them where there are fewer.
    **choices
        As the options of ``python -m core evaluate``: ``seed``, ``metrics``, ``erasure``, ``labels``, …

    Returns
    -------
    Evaluation
        What the answers come to, and a line for each text.

    Raises
    ------
    ValueError
        An unknown question, measure or choice, or data without texts.
    """
    from core.evaluation.studies.catalogue import questions
    from core.loading.locating import find_seeds

    refuse_unknown(("question", [question], tuple(questions())))
    named = isinstance(model, str)
    where = {name: choices.pop(name) for name in ("device", "precision") if named and name in choices}
    loaded = None if named and find_seeds(model) is not None else _opened(model, dict(where))
    options = choices_of(evaluating, choices, what=question, sample=sample, **_measures(measures))
    terminal.refuse_below_one("sample", sample)
    evaluating.refuse_choices_of_others(choices, question)
    asked = evaluating.question_of(options, data=data)
    asked.check()
    with terminal.Bar(DELAY) as bar:
        options.model = model if isinstance(model, str) else model.model.name
        vars(options).update(where)
        seeds = terminal.seeds_of(options, bar.say, loaded)
        explainers = terminal.open_models(options, bar.say, seeds, loaded)[1]
        read = _read(data, options)
        return Evaluation(evaluating.ask_models(options, asked, read, explainers, bar, seeds))


class Evaluation(Answered):
    """What a question's answers over a data set come to.

    Attributes
    ----------
    reports : list
        What each model's answers come to, in numbers.
    """

    def __init__(self, found: "Evaluated"):
        self._found, self.reports = found, list(found.reports)

    @property
    def sections(self) -> list[Section]:
        """Results, with the tables behind them."""
        return self._found.sections

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A line for each text, and for each measure where the question asks of measures."""
        return self._found.lines

    def _answer(self, ending: str) -> Answer:
        return self._found.answer(ending)

    def _bytes(self, ending: str) -> bytes:
        return answer_bytes(self._answer(ending), ending)


def _measures(names: Iterable[str] | None) -> dict[str, list[str]]:
    """The choice of measures; one name is one measure."""
    return {} if names is None else {"measures": [names] if isinstance(names, str) else list(names)}


def _opened(model: str | Explainer, choices: dict[str, Any]) -> Explainer:
    """The model; where it computes belongs to its name and not to one that is loaded."""
    if isinstance(model, Explainer):
        return model
    where = {name: choices.pop(name) for name in ("device", "precision") if name in choices}
    return _held(model, _store(), **where)


def _read(data: "str | Path | DataFrame | Sequence", options: Namespace) -> DataSet:
    """Data by its name, or made of what was given."""
    if isinstance(data, (str, Path)):
        options.data = str(data)
        return terminal.data_of(options)
    from pandas import DataFrame

    rows = data if isinstance(data, DataFrame) else list(data)
    table = (
        DataFrame({"text": rows}) if rows is not data and all(isinstance(one, str) for one in rows) else DataFrame(rows)
    )
    options.data = read_table(table.to_parquet(index=False), "data.parquet")
    return terminal.data_of(options)


def _store() -> Store:
    return _store_at(settings.read())


@functools.cache
def _store_at(chosen: settings.Settings) -> Store:
    """One store a process and settings."""
    return open_store(chosen)


@functools.lru_cache(maxsize=2)
def _held(model: str, store: Store, device: str = "auto", precision: str = "float32") -> Explainer:
    """The newest two models that were named stay loaded."""
    return terminal.open_model(model, store, device, precision)

"""Options that commands share, each declared once, named as the app's sidebar and addresses name the same choice."""

import argparse
from collections.abc import Callable, Iterable

from core.data.examples import bundled_data
from core.explanation.rows import SIGNS
from core.measures.catalogue import measures
from core.metrics.catalogue import default_metrics
from core.network.features import FIRST, MASKABLE, UNITS
from core.settings import PRECISIONS
from core.validity.marks import HOLM, RULES
from core.validity.references import CALIBRATED, FORMS

# How a command declares what it takes (`add_argument`), and what it was asked for.
Option = Callable[..., object]
Options = argparse.Namespace
FORMATS = ".jsonl, .csv, .tsv or .parquet"
BESIDE_WEIGHTS = "output file (default: in the model's folder or the cache)"
ANSWER_FILE = ".csv, .parquet, .json, .tex or .html file, with provenance"
ROLES = ("text", "second", "label")
# Run by `core.plugins.load_plugin` before anything is declared.
_PLUGIN = "Python file with measures, metrics or questions of your own; it is run"


def add_model(option: Option, default: str | None = None) -> None:
    """Which model, and where and how a command computes with it."""
    option("--model", required=default is None, default=default, help="bundled name, folder, family, hub id or adapter")
    add_device(option)
    option("--precision", choices=PRECISIONS, default="float32", help="numeric precision")


def add_device(option: Option) -> None:
    """Where a command computes."""
    option("--device", default="auto", help="auto, cuda, mps or cpu")


def add_text(option: Option) -> None:
    """Which text, under which model, and which class of it is explained."""
    add_model(option, "sst2-fmm")
    option("--text", help="text; or use --data and --example")
    option("--second", help="second text of a pair")
    option("--data", help="bundled set or file")
    option("--example", help="example id in --data")
    option("--class", dest="target", default="predicted", help="predicted, or a class name")
    option("--than", help="contrast class; the score is the logit difference")


def add_unit(option: Option) -> None:
    """What is masked as one feature."""
    option("--unit", choices=UNITS, default="word", help="masked as one feature")


def add_maskable(option: Option) -> None:
    """Which texts of a pair are masked."""
    option("--maskable", choices=tuple(MASKABLE), default=FIRST, help="texts of a pair that are masked")


def add_seed(option: Option) -> None:
    """What decides all draws of a command."""
    option("--seed", type=int, default=0, help="random seed")


def add_test(option: Option) -> None:
    """How inputs are rejected as out-of-distribution."""
    option("--rule", choices=tuple(RULES), default=HOLM, help="multiple-testing correction")
    option("--form", choices=FORMS, default=CALIBRATED, help="form of p-values")


def add_measures(option: Option, does: str, default: Iterable[str], nargs: str = "*", sign: str = "signed") -> None:
    """Which measures, and which of their values; does: what is done with them; sign: the default values."""
    asks = {name: one.options for name, one in measures().items() if one.options}
    asked = (f"{name} [{', '.join(f'{key}=…' for key in keys)}]" for name, keys in asks.items())
    option("--plugin", action="append", help=_PLUGIN)
    told = f"measures {does}; quote a name with its options: {', '.join(asked)}"
    option("--measures", nargs=nargs, default=list(default), help=told)
    option("--values", dest="sign", choices=SIGNS, default=sign, help="measure values")


def add_metrics(option: Option, about: str) -> None:
    """Which faithfulness metrics judge attributions."""
    option("--metrics", nargs="+", default=list(default_metrics()), help=about)


def add_data_option(option: Option) -> None:
    """Which data set, and which columns of its file hold what."""
    option("--data", required=True, help=f"file or bundled set ({', '.join(bundled_data())})")
    add_columns(option)
    option("--labels", nargs="+", help="names of labels 0, 1, …")


def add_columns(option: Option, roles: Iterable[str] = ROLES) -> None:
    """Which columns of a file hold what."""
    for role in roles:
        option(f"--{role}", help=f"{role} column{'' if role == 'text' else ', empty for none'} (default: guessed)")


def add_out(option: Option) -> None:
    """Which file `core.reports.answers.answer_bytes` fills."""
    option("--out", help=ANSWER_FILE)

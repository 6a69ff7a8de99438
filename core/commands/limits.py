"""`python -m core limits`: AOPC of measures between its limits, for a file of texts, as Parquet."""

from pathlib import Path

from core import settings
from core.commands import terminal
from core.commands.terminal import Option, Options
from core.mathematics.search.limits import MOST_EXACT
from core.measures.catalogue import default_measures

HELP = "AOPC of measures within its limits"
GOES_ON = terminal.RESUMES


def add(option: Option) -> None:
    """What it takes."""
    terminal.add_model(option)
    option("--beside", nargs="+", default=[], help="further models on the same texts")
    option("--data", required=True, help=f"texts: {terminal.FORMATS}")
    option("--out", required=True, help="Parquet file; resumes")
    option("--text", default="text", help="text column")
    option("--second", help="second-text column")
    terminal.add_measures(option, "to score", default_measures(), "+")
    terminal.add_class(option)
    terminal.add_unit(option)
    option("--width", type=int, help="beam width (default: insertion search)")
    option("--exact-up-to", type=int, help="most scores of exact limits (default: CPU 4096, GPU 131072)")
    option("--full", action="store_true", help="never search in half precision")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from pyarrow import parquet

    from core.data.tables import read_labelled
    from core.evaluation.studies.limits_of_texts import Batch, batch_limits
    from core.explanation.explainer import Explainer
    from core.loading.loading import load
    from core.reports.exports import visible
    from core.results.limits import limits_of_texts_result
    from core.storage.library import Library
    from core.storage.store import Store
    from core.texts.rendering import write_result

    chosen, exact = settings.read(), options.exact_up_to
    if exact is None and chosen.exact_scores is not None:
        exact = min(chosen.exact_scores, 1 << MOST_EXACT)
    batch = Batch(
        options.model,
        tuple(options.measures),
        options.sign,
        options.target,
        options.unit,
        options.width,
        exact,
        not options.full,
    )
    data = read_labelled(Path(options.data), options.text, options.second, None)
    store = Store(chosen.cache, chosen.cache_bytes)
    models = [load(name, options.device, options.precision) for name in (options.model, *options.beside)]
    if len({model.digest for model in models}) < len(models):
        raise ValueError("two models have the same weights; leave one out")
    terminal.say_of_models(models)
    explainer, *beside = (Explainer(model, store, kept=Library(chosen.cache).references) for model in models)
    with terminal.Bar() as bar:
        out = batch_limits(explainer, data, batch, Path(options.out), bar, beside, bar.say)
        terminal.say_of_store(store, bar.say)
    rows = parquet.read_table(out).to_pylist()
    for model in models:
        found = limits_of_texts_result([row for row in rows if row["model"] == model.name])
        print(f"{visible(model.name)}\n{write_result(found)}\n")
    print(f"Written: {out}")
    return 0

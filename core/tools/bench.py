"""`python -m core.tools bench`: speed of this machine, as ratios in one run."""

from pathlib import Path

from core.commands.options import Option, Options, add_columns, add_model
from core.commands.terminal import Bar, columns_of, say
from core.network.model import Model

HELP = "benchmark this machine"


def add(option: Option) -> None:
    """What it takes."""
    add_model(option, "sst2-fmm")
    option("--texts", help="file of texts; compares limit searches only")
    add_columns(option, ("text",))
    option("--count", type=int, default=100, help="texts of 8 to 40 words")
    option("--rows", help="JSON Lines file of figures; resumes")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.bench.bench import bench, bench_report
    from core.loading.loading import load

    model = load(options.model, options.device, options.precision)
    if options.texts:
        print("\n".join(_searches(model, options)))
        return 0
    with Bar() as bar:
        found = bench(model, progress=bar)
    print(bench_report(found))
    return 0


def _searches(model: Model, options: Options) -> list[str]:
    """The comparison of searches on the texts of a file."""
    from core.bench.bench_search import chosen_texts, compare_searches, search_lines
    from core.data.sources import read_data
    from core.explanation.explainer import Explainer

    explainer, data = Explainer(model), read_data(Path(options.texts), say, {**columns_of(options), "second": ""})[2]
    kept = Path(options.rows) if options.rows else None
    chosen = chosen_texts(explainer, [one.text for one in data.examples], options.count)
    return search_lines(compare_searches(explainer, chosen, kept, say))

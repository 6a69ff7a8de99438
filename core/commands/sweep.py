"""`python -m core sweep`: models × data × measures × metrics × seeds, as the tables of papers; resumable."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import settings
from core.commands import terminal
from core.commands.options import Option, Options, add_device
from core.explanation.explainer import Explainer
from core.network.model import Model
from core.storage.files import only_writer
from core.storage.store import open_store

if TYPE_CHECKING:
    from core.sweeps.configuration import Sweep
    from core.sweeps.running import Fill

HELP = "ask several models and data sets, and write the tables of papers"
GOES_ON = terminal.RESUMES


def add(option: Option) -> None:
    """What it takes."""
    option("configuration", help="TOML file: models, data, measures, metrics, seeds, sample, tables, out")
    add_device(option)
    option("--ray", nargs="?", const="", metavar="HOST:PORT", help="compute by Ray, here or on a running cluster")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.reports.answers import Section, answer_text
    from core.sweeps.configuration import read_sweep
    from core.sweeps.registry import sweep_tables
    from core.sweeps.running import run_sweep
    from core.sweeps.writing import lay_out, write_tables

    sweep = read_sweep(Path(options.configuration))
    with only_writer(Path(sweep.out), folder=True) as out, _workers(options, sweep) as fill, terminal.Bar() as bar:
        data = [terminal.read_named(one.file, dict(one.columns), one.labels) for one in sweep.data]
        store = open_store(settings.read())
        families = {name: list(found) for name in sweep.models if (found := terminal.members_of(name, bar.say))}
        names = [one for name in sweep.models for one in families.get(name, [name])]
        models = _opened(
            names, families, lambda name: terminal.open_model(name, store, options.device, sweep.precision, bar.say)
        )
        found = run_sweep(sweep, models, data, store, bar, fill, families)
        terminal.say_of_store(store, bar.say)
        for why, count in found.left_out.items():
            bar.say(f"Left out ({count:,}): {why}")
        written = write_tables(sweep, found, out)
    shown = [name for name in written if not sweep_tables()[name].of_texts]
    sections = [Section(name, tables=[lay_out(sweep_tables()[name], found.lines[name])]) for name in shown]
    print(answer_text(sections))
    for files in written.values():
        print(f"Written: {files[0]} {' '.join(path.suffix for path in files[1:])}")
    return 0


def _opened(
    names: Sequence[str], families: "Mapping[str, Sequence[str]]", opens: Callable[[str], Explainer]
) -> Iterator[Explainer]:
    """Models one after another; ValueError for a member of a family that has other classes than the first of it."""
    first: dict[str, Model] = {}
    for name in names:
        explainer = opens(name)
        for family in (one for one, members in families.items() if name in members):
            terminal.require_classes(explainer.model, first.setdefault(family, explainer.model))
        yield explainer


def open_here(name: str, device: str, precision: str) -> Explainer:
    """A model by this machine's own settings: what a Ray worker opens."""
    return terminal.open_model(name, open_store(settings.read()), device, precision)


@contextmanager
def _workers(options: Options, sweep: "Sweep") -> Generator["Fill | None"]:
    """What computes by Ray, where that is asked for."""
    if options.ray is None:
        yield None
        return
    from core.sweeps.cluster import open_cluster

    with open_cluster(options.ray) as cluster:

        def fill(explainer: Explainer, *asked: Any) -> None:
            opens = partial(open_here, explainer.model.name, options.device, sweep.precision)
            cluster.fill(opens, explainer, *asked)

        yield fill

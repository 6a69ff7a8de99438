"""What `python -m core report` takes, and what of it cannot be carried out."""

from pathlib import Path

from core.commands import options as given
from core.commands import terminal
from core.commands.options import Option, Options
from core.evaluation.studies.catalogue import questions
from core.measures.catalogue import default_measures


def add(option: Option) -> None:
    """What it takes."""
    given.add_text(option)
    option("--pinned", action="store_true", help="of --data, the pinned examples")
    option("--what", nargs="+", choices=tuple(questions()), help="of --data, questions (default: stored or fast)")
    option("--sample", type=int, help="of --what: sample size (default: all)")
    given.add_seed(option)
    given.add_measures(option, "to explain with", default_measures(), "+")
    given.add_unit(option)
    given.add_maskable(option)
    given.add_test(option)
    option("--out", required=True, help="HTML file, with provenance")


def refuse_report(options: Options) -> None:
    """ValueError with a sentence for the first choice that cannot be carried out."""
    if Path(options.out).suffix.lower() != ".html":
        raise ValueError(f"--out ends in .html, not {Path(options.out).suffix or 'nothing'}")
    one = options.text is not None or options.example is not None
    if one + options.pinned + (options.what is not None) > 1:
        raise ValueError("choose one of --example, --pinned and --what")
    if not one and options.data is None:
        raise ValueError("give --data")
    terminal.refuse_measures(options.measures)
    terminal.refuse_below_one("--sample", options.sample)

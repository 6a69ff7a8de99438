"""`python -m core.tools stories`: question-answering stories whose evidence is known."""

from pathlib import Path

from core.commands.options import Option, Options, add_seed
from core.data.stories import TASKS
from core.storage.files import only_writer, whole_file

HELP = "stories with known evidence, as JSON Lines"


def add(option: Option) -> None:
    """What it takes."""
    option("--task", type=int, choices=TASKS, required=True, help="supporting facts per question")
    option("--count", type=int, default=10_000, help="number of stories")
    option("--out", required=True, help="output file")
    add_seed(option)
    option("--sentences", type=int, help="per story (default by task: 6, 10, 14)")
    option("--redundant", type=float, default=0.0, help="share of stories stating facts twice")
    option("--balanced", action="store_true", help="equally frequent answers")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.data.examples import write_stories

    asked = options.task, options.count, options.seed, options.sentences, options.redundant, options.balanced
    with only_writer(Path(options.out)) as out, whole_file(out) as place:
        write_stories(place, *asked)
    print(f"Written: {options.out}, {options.count:,} stories")
    return 0

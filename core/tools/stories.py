"""`python -m core.tools stories`: question-answering stories whose evidence is known."""

from pathlib import Path

from core.commands.terminal import Option, Options
from core.data.stories import TASKS
from core.storage.files import only_writer, whole_file

HELP = "question-answering stories whose evidence is known, as JSON Lines"


def add(option: Option) -> None:
    """What it takes."""
    told = "supporting facts: where an actor is (1), where a thing is (2), where it was before (3)"
    option("--task", type=int, choices=TASKS, required=True, help=told)
    option("--count", type=int, default=10_000, help="stories")
    option("--out", required=True, help="file to write")
    option("--seed", type=int, default=0, help="of all choices")
    option("--sentences", type=int, help="of each story (default: 6, 10 or 14 by task)")
    option("--redundant", type=float, default=0.0, help="share of stories that state every supporting fact twice")
    option("--balanced", action="store_true", help="every place is the answer equally often")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.data.examples import write_stories

    asked = options.task, options.count, options.seed, options.sentences, options.redundant, options.balanced
    with only_writer(Path(options.out)) as out, whole_file(out) as place:
        write_stories(place, *asked)
    print(f"Written: {options.out}, {options.count:,} stories")
    return 0

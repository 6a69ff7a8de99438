"""`python -m core.tools encoder`: pretrain the small encoder of the story models."""

from pathlib import Path

from core.commands.terminal import Bar, Option, Options

HELP = "pretrain the small encoder of the story models, a base for core train"


def add(option: Option) -> None:
    """What it takes."""
    option("--out", required=True, help="folder to write")
    option("--steps", type=int, default=6000, help="mini-batches that the learning rate is planned for")
    option("--stop", type=int, default=3000, help="stop after so many")
    option("--seed", type=int, default=0, help="of weights and stories")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.training.story_encoder import write_encoder

    with Bar() as bar:
        write_encoder(Path(options.out), options.steps, options.stop, options.seed, progress=bar)
    print(f"Written: {options.out}")
    return 0

"""`python -m core.tools encoder`: pretrain the small encoder of the story models."""

from pathlib import Path

from core.commands.options import Option, Options, add_seed
from core.commands.terminal import Bar

HELP = "pretrain the base of story models"


def add(option: Option) -> None:
    """What it takes."""
    option("--out", required=True, help="output folder")
    option("--steps", type=int, default=6000, help="length of the learning-rate schedule")
    option("--stop", type=int, default=3000, help="last step")
    option("--width", type=int, default=128, help="width of layers")
    option("--layers", type=int, default=4, help="layers")
    option("--decoder", action="store_true", help="a Llama")
    add_seed(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.training.story_encoder import Shape, write_encoder

    with Bar() as bar:
        shape = Shape(options.layers, options.width, decoder=options.decoder)
        write_encoder(Path(options.out), options.steps, options.stop, options.seed, shape=shape, progress=bar)
    print(f"Written: {options.out}")
    return 0

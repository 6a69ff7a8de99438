"""`python -m core.tools device`: what only a GPU can prove, printed."""

from core.commands.options import Option, Options, add_device
from core.commands.terminal import Bar

HELP = "measure a GPU"


def add(option: Option) -> None:
    """What it takes."""
    add_device(option)
    option("--seconds", type=float, default=20.0, help="each loop")


def run(options: Options) -> int:
    """Carry out the command; 1 where a GPU does not agree with the processor."""
    from core.bench.bench_device import device_lines, measure_device
    from core.loading.loading import choose_device

    with Bar() as bar:
        found = measure_device(choose_device(options.device), options.seconds, progress=bar)
    print("\n".join(device_lines(found)))
    return 0 if found.agrees else 1

"""`python -m core bench`: speed of this machine, as ratios in one run."""

from core.commands.terminal import Option, Options, add_model

HELP = "speed of this machine, as ratios in one run"


def add(option: Option) -> None:
    """What it takes."""
    add_model(option, "sst2-fmm")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.bench.bench import bench, bench_report
    from core.loading.loading import load

    print(bench_report(bench(load(options.model, options.device, options.precision))))
    return 0

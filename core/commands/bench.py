"""`python -m core bench`: speed of this machine, as ratios in one run."""

from core.commands.terminal import Option, Options, add_machine

HELP = "speed of this machine, as ratios in one run"


def add(option: Option) -> None:
    """What it takes."""
    option("--model", default="sst2-fmm", help="bundled name, folder, hub id or adapter")
    add_machine(option)


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.bench.bench import bench, bench_report
    from core.loading.loading import load

    print(bench_report(bench(load(options.model, options.device, options.precision))))
    return 0

"""`python -m core reference`: fit what a model's hidden states look like on inputs that it knows."""

from dataclasses import replace
from pathlib import Path

from core.commands import options as given
from core.commands import terminal
from core.commands.options import Option, Options
from core.mathematics.masking import TRAINING_STRATEGIES
from core.network.model import POOLINGS
from core.storage.files import only_writer
from core.validity.masf import COMBINATIONS, Combine

HELP = "fit a model's MaSF reference on in-distribution inputs"


def add(option: Option) -> None:
    """What it takes."""
    given.add_model(option)
    option("--data", required=True, help=f"texts like those to test, as long: {given.FORMATS}")
    option("--held-out", help="texts for the false-rejection rate (default: cross-validation)")
    option("--out", help=given.BESIDE_WEIGHTS)
    given.add_columns(option, ("text", "second"))
    option("--training", choices=TRAINING_STRATEGIES, help="training strategy (default: the card's, or half)")
    option("--maskings", type=int, default=2, help="masked copies of each text")
    given.add_seed(option)
    option("--pooling", choices=POOLINGS, default="max", help="of hidden states over tokens")
    option("--dimensions", choices=COMBINATIONS, default="simes", help="combines p-values over dimensions")
    option("--layers", choices=COMBINATIONS, default="fisher", help="combines p-values over layers")
    option("--simulate", type=int, metavar="SPLITS", help="instead, false-rejection rates of random splits (slow)")
    option("--states", help="with --simulate: safetensors file of states to reuse")
    given.add_maskable(option)
    option("--compact", action="store_true", help="half precision, thinned between the tails")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.data.parsed import BadData
    from core.data.sources import read_labelled
    from core.loading.loading import load
    from core.validity.fitting import FEWEST, Drawing, fit_reference, place_for, readable_reference, training_strategy
    from core.validity.references import write_reference

    terminal.refuse_below_one("--simulate", options.simulate)
    drawing = Drawing(
        options.training or "half",
        options.maskings,
        options.seed,
        options.pooling,
        Combine(options.dimensions, options.layers),
        options.compact,
        options.maskable,
    )
    data = read_labelled(Path(options.data), terminal.say, terminal.columns_of(options), labelled=False)
    other = options.held_out
    held_out = read_labelled(Path(other), terminal.say, data.columns, labelled=False) if other else None
    files = [data, *([held_out] if held_out else [])]
    if options.simulate is not None and _size(files) < FEWEST:
        raise BadData(f"--simulate fits {_size(files)} texts and needs {FEWEST}. Give more, or add --held-out.")
    model = load(options.model, options.device, options.precision)
    drawing = replace(drawing, training=options.training or training_strategy(model))
    # A card that is not believed does not say how the model was trained.
    terminal.say_of_model(model)
    if options.simulate is not None:
        return _simulate(options, model, files, drawing)
    out = Path(options.out) if options.out else place_for(model)
    with only_writer(out) as place:
        with terminal.Bar() as bar:
            reference = fit_reference(model, data, drawing, held_out, bar)
        write_reference(reference, place)
    print(f"Written: {out}\n\n{readable_reference(reference)}")
    return 0


def _size(files: list) -> int:
    """Texts of a simulated reference: as many as the data file has, or two thirds where it is all there is."""
    return len(files[0]) if len(files) > 1 else 2 * len(files[0]) // 3


def _simulate(options: Options, model, files: list, drawing) -> int:
    from core.validity.simulating import pooled, readable_simulation, simulate

    with terminal.Bar() as bar:
        observed = pooled(model, files, drawing, Path(options.states) if options.states else None, bar)
        found = simulate(observed, drawing, _size(files), options.simulate, lambda a, b: bar("simulating", a, b))
    print(readable_simulation(found))
    return 0

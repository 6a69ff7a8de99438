"""`python -m core reference`: fit what a model's hidden states look like on inputs that it knows."""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from core.commands.terminal import Bar, Option, Options, add_model, say_of_models
from core.mathematics.masking import TRAINING_STRATEGIES
from core.network.model import POOLINGS
from core.storage.files import only_writer
from core.validity.masf import COMBINATIONS, Combine

HELP = "fit the MaSF reference of a model: what its hidden states look like on inputs that it knows"


def add(option: Option) -> None:
    """What it takes."""
    add_model(option)
    option("--data", required=True, help="texts like those to be tested, as long: .jsonl, .csv, .tsv or .parquet")
    option("--held-out", help="more such texts, for the rate of false rejections (default: 5-fold cross-validation)")
    option("--out", help="file to write (default: beside the weights of a folder, else in the cache)")
    option("--text", default="text", help="column of the text")
    option("--second", help="column of the second text of a pair")
    option("--training", choices=TRAINING_STRATEGIES, help="of the model (default: by its card, half without one)")
    option("--maskings", type=int, default=2, help="masked copies of each text on the first two levels")
    option("--seed", type=int, default=0, help="of masks and parts")
    option("--pooling", choices=POOLINGS, default="max", help="over the tokens")
    option("--dimensions", choices=COMBINATIONS, default="simes", help="combines p-values over a layer's dimensions")
    option("--layers", choices=COMBINATIONS, default="fisher", help="combines them over layers")
    told = "instead, how often references of random splits of all texts would reject the others (slow)"
    option("--simulate", type=int, metavar="SPLITS", help=told)
    option("--states", help="with --simulate: safetensors file in which hidden states are kept for the next time")
    option("--compact", action="store_true", help="keep the tails and some values between only, in half precision")


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.data.parsed import BadData
    from core.data.tables import read_labelled
    from core.loading.loading import load
    from core.validity.fitting import FEWEST, Drawing, fit_reference, place_for, readable_reference, training_strategy
    from core.validity.references import write_reference

    if options.simulate is not None and options.simulate < 1:
        raise BadData(f"--simulate is {options.simulate}; it must be at least 1, the number of random splits.")
    drawing = Drawing(
        options.training or "half",
        options.maskings,
        options.seed,
        options.pooling,
        Combine(options.dimensions, options.layers),
        options.compact,
    )
    data = read_labelled(Path(options.data), options.text, options.second, None)
    held_out = options.held_out and read_labelled(Path(options.held_out), options.text, options.second, None)
    files = [data, *([held_out] if held_out else [])]
    if options.simulate is not None and _size(files) < FEWEST:
        raise BadData(
            f"A simulated reference needs at least {FEWEST} texts, and would have {_size(files)}: all of --data with "
            "--held-out, two thirds of --data without; give more texts."
        )
    model = load(options.model, options.device, options.precision)
    drawing = replace(drawing, training=options.training or training_strategy(model))
    # A card that is not believed does not say how the model was trained.
    say_of_models([model], partial(print, file=sys.stderr))
    if options.simulate is not None:
        return _simulate(options, model, files, drawing)
    out = Path(options.out) if options.out else place_for(model)
    with only_writer(out) as place:
        with Bar() as bar:
            reference = fit_reference(model, data, drawing, held_out or None, bar)
        write_reference(reference, place)
    print(f"Written: {out}\n\n{readable_reference(reference)}")
    return 0


def _size(files: list) -> int:
    """Texts of a simulated reference: as many as the data file has, or two thirds where it is all there is."""
    return len(files[0]) if len(files) > 1 else 2 * len(files[0]) // 3


def _simulate(options: Options, model, files: list, drawing) -> int:
    from core.validity.simulating import pooled, readable_simulation, simulate

    with Bar() as bar:
        observed = pooled(model, files, drawing, Path(options.states) if options.states else None, bar)
        found = simulate(observed, drawing, _size(files), options.simulate, lambda a, b: bar("simulating", a, b))
    print(readable_simulation(found))
    return 0

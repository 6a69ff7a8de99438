"""`python -m core words`: measure what each word of a training split tells about the class."""

from pathlib import Path

from core.commands.options import BESIDE_WEIGHTS, FORMATS, Option, Options, add_columns, add_model
from core.commands.terminal import columns_of, say, say_of_model
from core.storage.files import only_writer

HELP = "mutual information of words and classes"
_TOP = 10


def add(option: Option) -> None:
    """What it takes."""
    add_model(option)
    option("--data", required=True, help=f"its training split: {FORMATS}")
    option("--out", help=BESIDE_WEIGHTS)
    add_columns(option, ("text", "label"))


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.data.sources import read_labelled
    from core.loading.loading import load
    from core.loading.model_files import WORDS_FILE
    from core.loading.word_bits import write_words
    from core.measures.mutual_information import measure_words
    from core.reports.exports import visible
    from core.validity.fitting import place_for

    model = load(options.model, options.device, options.precision)
    say_of_model(model)
    data = read_labelled(Path(options.data), say, {**columns_of(options), "second": ""}, model.labels)
    found = measure_words(data.texts, data.labels, model.labels)
    out = Path(options.out) if options.out else place_for(model, WORDS_FILE)
    with only_writer(out) as place:
        write_words(found, model, data.name, place)
    print(f"Written: {out}\n\n{len(found.words):,} words of {len(data):,} texts, by mutual information:")
    for word in sorted(found.words, key=lambda word: -found.words[word])[:_TOP]:
        print(f"  {visible(word)}: {found.words[word]:.3g} bits")
    return 0

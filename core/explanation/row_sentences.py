"""What rows of attributions say in a sentence, as HTML in which all text is escaped."""

from collections.abc import Sequence

from core.explanation.rows import WordRow, most_important, shared_top
from core.measures.catalogue import measures
from core.network.features import Encoded
from core.wording import escaped, named_word, number

TOP = 3


def importance_sentence(row: WordRow, encoded: Encoded) -> str:
    """What one measure calls most important, and what that means where it masks."""
    first, alone = most_important(row), measures()[row.measure].alone
    if first is None:
        lowers = ": masking any one of them would not lower its logit" if alone else ""
        return f"No single {encoded.unit} speaks for that class{lowers}."
    word = _bold(encoded, first)
    if not alone:
        return f"It calls {word} most important."
    fall = number(float(row.scores[first]))
    return f"Masking {word} alone would cost that class most: its logit would fall by {fall}."


def agreement_sentence(rows: Sequence[WordRow], encoded: Encoded, complete: bool) -> str:
    """What several measures call most important together; random order says nothing.

    complete: whether there is a row of every measure that was chosen.
    """
    unit, ranked = encoded.unit, [row for row in rows if not measures()[row.measure].baseline]
    if not ranked:
        asked = (
            "Choose a measure in the settings below" if complete else "Nothing is computed yet: ask for a measure below"
        )
        return f"{asked} to see which {unit}s it calls important."
    firsts = {row.measure: most_important(row) for row in ranked}
    spelled = {name: None if i is None else _bold(encoded, i) for name, i in firsts.items()}
    if len(ranked) == 1:
        name, word = next(iter(spelled.items()))
        said = f"{word} matters most" if word else f"no single {unit} speaks for this class"
        return f"By {escaped(name)}, {said}."
    ordered = [row for row in ranked if firsts[row.measure] is not None]
    shared = ", ".join(_bold(encoded, i) for i in shared_top(ordered, TOP))
    top = min(TOP, encoded.F)
    if shared and len(ordered) == len(ranked):
        return f"{'Both' if len(ranked) == 2 else f'All {len(ranked)}'} measures put {shared} among their top {top}."
    said = "; ".join(f"{escaped(name)} says {word or 'none'}" for name, word in spelled.items())
    return f"The measures share no {unit} among their top {top}: {said}."


def _bold(encoded: Encoded, i: int) -> str:
    return named_word(encoded.features[i].text)

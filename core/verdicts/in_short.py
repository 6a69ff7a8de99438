"""Whom to believe on one text, from the words of verdicts alone: for pages that show no more of them."""

from core.verdicts.deciding import Word
from core.wording import amount, joined, strong


def believed_sentence(words: dict[str, Word]) -> str:
    """Which measures are better than chance on one text, a sentence of HTML in which all text is escaped."""
    better = [strong(name) for name, word in words.items() if word is Word.BETTER]
    if better:
        one = len(better) == 1
        return (
            f"believe {joined(better)}, of {amount(len(words), 'measure')}: masked in {'its' if one else 'their'} order"
            f"{'s' * (not one)}, words lower the score more on average than in random orders (the chance test)."
        )
    if all(word is Word.UNTOLD for word in words.values()):
        return f"of {amount(len(words), 'measure')} it cannot be told."
    return f"none of {amount(len(words), 'measure')} is shown to do better than chance."

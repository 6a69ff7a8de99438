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


def standing_sentence(words: dict[str, Word]) -> str:
    """What each measure's verdict on one text is, a sentence of HTML in which all text is escaped; "" of none."""
    better = "better than chance"
    said = {
        Word.BETTER: better,
        Word.NO_BETTER: "not shown to be" if Word.BETTER in words.values() else f"not shown to be {better}",
        Word.WORSE: "worse than chance",
        Word.UNTOLD: "cannot be told",
    }
    told = [
        f"{about}: {joined([strong(name) for name in names])}"
        for word, about in said.items()
        if (names := [name for name, one in words.items() if one is word])
    ]
    lead = "; ".join(told)
    return f"{lead[0].upper()}{lead[1:]} (the chance test, on this text)." if told else ""

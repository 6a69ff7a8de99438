"""The glossary on pages: one short sentence a term."""

from core.terms import TERMS


def test_a_term_is_one_sentence_of_at_most_fourteen_words():
    for name, meaning in TERMS.items():
        assert len(meaning.split()) <= 14 and meaning.endswith(".") and meaning.count(". ") == 0, name
    assert len(set(TERMS.values())) == len(TERMS)

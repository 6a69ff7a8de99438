"""Attacks: what they may change, what they cost, and that each finds what it looks for."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attacks.attacking import attack_text, attacked
from core.attacks.catalogue import attack_named, attacks
from core.attacks.deep_word_bug import edits
from core.attacks.genetic import cross
from core.attacks.greedy import by_importance
from core.attacks.hotflip import estimated_flips
from core.attacks.victim import FUNCTION_WORDS, AttackOutcome, Budget, Victim, exchanged, is_word
from core.attacks.vocabulary import Vocabulary, vocabulary_of
from core.network.scheduler import Cancelled
from core.storage.store import Store
from tests import tiny
from tests.attacks.counting import CountingModel, LinearModel, made_of

NAMES = ("DeepWordBug", "substitution", "genetic", "HotFlip")
TEXTS = (tiny.SENTENCES[5], tiny.SENTENCES[8], tiny.SENTENCES[10], tiny.SENTENCES[16], tiny.SENTENCES[30])
# Whatever the sentence encoder says of it.
ANY = -1.0


@pytest.fixture
def far(monkeypatch):
    """Any word may stand for another."""
    monkeypatch.setattr(Vocabulary.near, "__defaults__", (None, -1.0))


@pytest.fixture
def model(tiny_model):
    return made_of(CountingModel, tiny_model("bert"))


def label_of(model, encoded) -> int:
    """The class that the model predicts."""
    for label in range(model.C):
        victim = Victim(model, encoded, label)
        if not victim.ask([victim.words]).flips[0]:
            return label
    raise AssertionError("no class is predicted")


def test_the_four_of_the_papers_are_registered():
    assert tuple(attacks()) == NAMES
    assert attack_named("hotflip") is attacks()["HotFlip"]
    with pytest.raises(ValueError, match="did you mean 'DeepWordBug'"):
        attack_named("deepwordbag")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_an_attack_stays_within_its_budget_and_counts_every_query(name, share, tiny_model, far):
    for text in TEXTS:
        encoded = tiny_model("bert").encode(text)
        label = label_of(tiny_model("bert"), encoded)
        model = made_of(CountingModel, tiny_model("bert"))
        kept = text.split()[1]
        budget = Budget(share, 60, ANY, (kept,))
        found = attack_text(model, encoded, label, name, budget)
        read = model.__dict__.get("read_rows", Counter())
        assert max(read.values(), default=0) <= 1
        assert found.queries == len(read) + model.__dict__.get("gradients", 0) <= 60
        words = [one.text for one in encoded.features]
        lettered = sum(any(map(str.isalpha, word)) for word in words)
        assert len(found.changed) <= max(1, int(share * lettered + 1e-9))
        for i, (start, end) in zip(found.changed, found.spans):
            assert words[i].casefold() not in {kept.casefold(), *FUNCTION_WORDS}
            assert found.text[start:end] != words[i]
        again = model.encode(found.text)
        assert found.success == (label_of(tiny_model("bert"), again) != label)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_text_and_the_store_keeps_it(name, tiny_model, far, tmp_path):
    model = tiny_model("bert")
    encoded = model.encode(TEXTS[0])
    label, budget = label_of(model, encoded), Budget(0.5, 60, ANY)
    first = attack_text(model, encoded, label, name, budget, seed=3)
    assert attack_text(model, encoded, label, name, budget, seed=3) == first
    store = Store(tmp_path)
    assert attacked(model, store, encoded, label, name, budget, 3) == first
    before = model.scheduler.counters.passes
    assert attacked(model, store, encoded, label, name, budget, 3) == first
    assert model.scheduler.counters.passes == before


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_attacked_is_named_and_costs_at_most_one_query(name, tiny_model):
    model = tiny_model("bert")
    one, kept = model.encode("Soup"), model.encode("The old soup")
    assert attack_text(model, one, 0, name).outcome is AttackOutcome.NO_ROOM
    protected = attack_text(model, kept, 0, name, Budget(protected=("old", "Soup")))
    assert protected.outcome is AttackOutcome.NO_ROOM and protected.queries == 0
    wrong = (label_of(model, kept) + 1) % model.C
    skipped = attack_text(model, kept, wrong, name)
    assert skipped.outcome is AttackOutcome.ALREADY_WRONG and skipped.queries == 1
    assert skipped.text == kept.text and skipped.changed == ()


def test_a_budget_that_makes_no_sense_is_refused(tiny_model):
    encoded = tiny_model("bert").encode(TEXTS[0])
    for budget, said in ((Budget(0.0), "share"), (Budget(queries=1), "queries"), (Budget(similarity=2), "cosine")):
        with pytest.raises(ValueError, match=said):
            attack_text(tiny_model("bert"), encoded, 0, "genetic", budget)


def test_hotflip_flips_first_what_brute_force_would_on_a_linear_model(tiny_model, far):
    model = made_of(LinearModel, tiny_model("bert"), labels=("a", "b"))
    for text in ("cold soup and old bread", "they paint the light water", "the wind is dull, leave twice"):
        encoded = model.encode(text)
        label = label_of(model, encoded)
        victim = Victim(model, encoded, label, Budget(1.0, 100_000, ANY))
        every = [
            exchanged(victim.words, place, vocabulary.words[one])
            for place in victim.free
            if (encoded.feature_of == place).sum() == 1
            for vocabulary in [victim.vocabulary]
            for one in vocabulary.near(victim.words[place])
        ]
        assert len(every) > 50
        best = victim.ask(every).wrong.max()
        first = estimated_flips(victim, victim.words)[0]
        assert victim.ask([first]).wrong[0] == pytest.approx(best, abs=1e-6)


def test_words_are_ranked_by_what_their_deletion_does(model):
    encoded = model.encode(TEXTS[1])
    victim = Victim(model, encoded, label_of(model, encoded))
    by_hand = {}
    for place in victim.free:
        one = encoded.features[place]
        left = encoded.text[: one.start] + encoded.text[one.end :].removeprefix(" ")
        again = model.encode(left)
        fresh = Victim(model, again, victim.label)
        by_hand[place] = fresh.ask([fresh.words]).wrong[0]
    assert by_importance(victim, "") == sorted(victim.free, key=lambda place: -by_hand[place])


def test_the_nearest_words_are_those_of_the_largest_cosine(tiny_model):
    vocabulary = vocabulary_of(tiny_model("bert"))
    unit = vocabulary.embeddings / np.linalg.norm(vocabulary.embeddings, axis=1, keepdims=True)
    own = vocabulary.words.index("soup")
    cosines = unit @ unit[own]
    expected = [i for i in np.argsort(-cosines) if i != own][:5]
    assert vocabulary.near("Soup", 5, -1.0).tolist() == expected
    assert vocabulary.spelled(expected[0], "Soup")[0].isupper()
    assert len(vocabulary.near("no word")) == 0


def test_the_most_similar_of_what_flips_is_taken_and_nothing_below_the_floor(model, far):
    encoded = model.encode(TEXTS[0])
    victim = Victim(model, encoded, label_of(model, encoded), Budget(1.0, 10_000, ANY))
    place = victim.free[0]
    offered = [exchanged(victim.words, place, word) for word in victim.vocabulary.words]
    found = victim.ask(offered)
    assert found.flips.any()
    alike = victim.similar(offered)
    words, _, flipped = victim.choose(offered, 0.0)
    assert flipped and victim.similar([words])[0] == alike[found.flips].max()
    strict = Victim(model, encoded, victim.label, Budget(1.0, 10_000, float(alike[found.flips].max()) + 1e-6))
    chosen = strict.choose(offered, 0.0)
    assert chosen is None or (not chosen[2] and strict.similar([chosen[0]])[0] >= strict.budget.similarity)


@given(st.text("abcdefgh'-", min_size=2, max_size=9).filter(is_word), st.integers(0, 2**31))
@settings(max_examples=80)
def test_an_edit_is_one_other_word_of_almost_the_same_letters(word, seed):
    for one in edits(word, np.random.default_rng(seed)):
        assert one != word and is_word(one) and one[0] == word[0] and abs(len(one) - len(word)) <= 1


def test_a_child_has_the_words_of_its_parents_and_no_more_changes_than_it_may(model):
    encoded = model.encode(TEXTS[3])
    victim = Victim(model, encoded, 0, Budget(0.2))
    one, other = victim.words, victim.words
    for i in victim.free[: victim.room]:
        one = exchanged(one, i, "one")
    for i in victim.free[-victim.room :]:
        other = exchanged(other, i, "other")
    for _ in range(20):
        child = cross(victim, one, other)
        assert len(victim.changed(child)) <= victim.room
        assert all(word in (a, b, c) for word, a, b, c in zip(child, one, other, victim.words))


@pytest.mark.parametrize("name", NAMES)
def test_a_cancelled_attack_stops_between_two_batches(name, tiny_model):
    model = tiny_model("bert")
    encoded, asked = model.encode(TEXTS[0]), []

    def cancelled():
        asked.append(None)
        return len(asked) > 1

    with pytest.raises(Cancelled):
        attack_text(model, encoded, label_of(model, encoded), name, cancelled=cancelled)

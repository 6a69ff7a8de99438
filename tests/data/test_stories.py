"""Stories against a slow reader of their own: it knows nothing but the text, and looks back from every moment for who
and what is where.
"""

import hashlib
import json
import re
from collections import Counter
from functools import cache
from itertools import islice, pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.data.examples import bundled_data, bundled_set
from core.data.stories import DROP, GO, TAKE, Event, Story, StoryQuestion, answer, stories

# The reader. It has its own words and takes nothing from the code under test.
PEOPLE = ["Amina", "Bruno", "Chidi", "Dalia"]
ROOMS = ["attic", "bakery", "cellar", "harbour", "library", "orchard"]
OBJECTS = ["compass", "kettle", "lantern"]
GOES, TAKES, DROPS = "went|walked|hurried|returned", "took|grabbed|lifted", "dropped|released|discarded"
_WHO, _ROOM, _OBJECT = "|".join(PEOPLE), "|".join(ROOMS), "|".join(OBJECTS)
SENTENCE = re.compile(
    rf"(?P<who>{_WHO}) (?:(?P<goes>{GOES}) to the (?P<room>{_ROOM})|(?:(?P<takes>{TAKES})|(?P<drops>{DROPS})) the "
    rf"(?P<object>{_OBJECT}))\."
)
WHERE_IS, WHERE_WAS = (
    re.compile(rf"Where is ({_WHO}|the (?:{_OBJECT}))\?"),
    re.compile(rf"Where was the ({_OBJECT}) before the ({_ROOM})\?"),
)


def sentences_of(text: str) -> list[str]:
    found = [match.group() for match in SENTENCE.finditer(text)]
    assert " ".join(found) == text
    return found


@cache
def deed(sentence: str) -> tuple[str, str, str]:
    """(who, "goes", "takes" or "drops", the room or object)."""
    said = SENTENCE.fullmatch(sentence)
    kind = next(kind for kind in ("goes", "takes", "drops") if said[kind])
    return said["who"], kind, said["room"] or said["object"]


def person_at(deeds, person: str, moment: int) -> str | None:
    """The room of a person after the first `moment` deeds."""
    return next((what for who, kind, what in reversed(deeds[:moment]) if who == person and kind == "goes"), None)


def handling(deeds, thing: str, moment: int) -> int | None:
    """The last of the first `moment` deeds that took or dropped the thing."""
    return next((i for i in range(moment - 1, -1, -1) if deeds[i][1] != "goes" and deeds[i][2] == thing), None)


def keeper(deeds, thing: str, moment: int) -> str | None:
    i = handling(deeds, thing, moment)
    return deeds[i][0] if i is not None and deeds[i][1] == "takes" else None


def thing_at(deeds, thing: str, moment: int) -> str | None:
    """What is held is where its holder is now; what was dropped is where its dropper then was."""
    i = handling(deeds, thing, moment)
    return None if i is None else person_at(deeds, deeds[i][0], moment if deeds[i][1] == "takes" else i)


def read(sentences, question: str) -> str | None:
    """The answer when only these sentences happened; None for what they do not determine."""
    deeds, end = [deed(sentence) for sentence in sentences], len(sentences)
    if asked := WHERE_IS.fullmatch(question):
        return (
            person_at(deeds, asked[1], end)
            if asked[1] in PEOPLE
            else thing_at(deeds, asked[1].removeprefix("the "), end)
        )
    thing, room = WHERE_WAS.fullmatch(question).groups()
    for i in range(end - 1, -1, -1):
        who, kind, what = deeds[i]
        # A thing comes to a place in the hands of who was somewhere else.
        if (kind, what) == ("goes", room) and keeper(deeds, thing, i) == who and person_at(deeds, who, i) != room:
            return thing_at(deeds, thing, i)
    return None


# Everything that one sentence of the vocabulary can tell.
FILLINGS = [
    f"{who} {said}."
    for who in PEOPLE
    for said in [f"went to the {room}" for room in ROOMS]
    + [f"{verb} the {thing}" for verb in ("took", "dropped") for thing in OBJECTS]
]


def read_around(sentences, gap: int, question: str) -> list[str | None]:
    """The answer for each single event that may have filled the gap."""
    return [read([*sentences[:gap], filling, *sentences[gap + 1 :]], question) for filling in FILLINGS]


def without(sentences, left_out) -> list[str]:
    return [sentence for i, sentence in enumerate(sentences) if i not in left_out]


def one_of_each(story: Story) -> list[set[int]]:
    """All choices of one sentence for each fact."""
    return [set(choice) for choice in product(*story.facts)]


def evidence_sentences(story: Story) -> set[int]:
    return {i for fact in story.facts for i in fact}


def first(task: int, seed: int, n: int, **options) -> list[Story]:
    return list(islice(stories(task, seed, **options), n))


@cache
def told(task: int, redundant: float) -> tuple[Story, ...]:
    """600 stories: three lengths, two seeds."""
    return tuple(
        story
        for length in (None, 2 * task + 1, 18)
        for seed in (0, 1)
        for story in first(task, seed, 100, sentences=length, redundant=redundant)
    )


ALL = pytest.mark.parametrize("task,redundant", list(product((1, 2, 3), (0.0, 1.0))))
STORIES = st.builds(
    lambda task, seed, more, redundant: next(stories(task, seed, 2 * task + more, redundant)),
    st.sampled_from((1, 2, 3)),
    st.integers(0, 10**6),
    st.integers(0, 20),
    st.sampled_from((0.0, 0.5, 1.0)),
)
EVENTS = st.lists(st.sampled_from(FILLINGS), max_size=16)
QUESTIONS = [StoryQuestion(what) for what in PEOPLE + OBJECTS] + [
    StoryQuestion(thing, room) for thing in OBJECTS for room in ROOMS
]


def events_of(text: str) -> tuple[Event, ...]:
    found = [(*deed(sentence), sentence.split(" ")[1]) for sentence in sentences_of(text)]
    return tuple(
        Event(who, {"goes": GO, "takes": TAKE, "drops": DROP}[kind], what, verb) for who, kind, what, verb in found
    )


# (what is told, what is asked, the answer worked out by hand)
BY_HAND = [
    ("", StoryQuestion("Amina"), None),
    (
        "Amina went to the attic. Bruno went to the cellar. Amina walked to the bakery.",
        StoryQuestion("Amina"),
        "bakery",
    ),
    ("Amina went to the attic. Bruno went to the cellar. Amina walked to the bakery.", StoryQuestion("Chidi"), None),
    # Carried: it goes where its holder goes, told before or after the taking.
    ("Amina went to the attic. Amina took the kettle.", StoryQuestion("kettle"), "attic"),
    ("Amina took the kettle. Amina went to the attic. Amina went to the cellar.", StoryQuestion("kettle"), "cellar"),
    ("Amina took the kettle. Bruno went to the attic.", StoryQuestion("kettle"), None),
    # Dropped: it stays where it was dropped, whoever moves.
    (
        "Amina took the kettle. Amina went to the attic. Amina dropped the kettle. Amina went to the cellar.",
        StoryQuestion("kettle"),
        "attic",
    ),
    ("Amina took the kettle. Amina dropped the kettle. Amina went to the attic.", StoryQuestion("kettle"), None),
    (
        "Amina went to the attic. Amina released the kettle. Amina went to the orchard.",
        StoryQuestion("kettle"),
        "attic",
    ),
    # A known place is forgotten when the next dropper's place is unknown.
    (
        "Amina went to the attic. Amina dropped the kettle. Bruno took the kettle. Bruno dropped the kettle.",
        StoryQuestion("kettle"),
        None,
    ),
    # Out of another's hands: the last taker has it, and the former holder goes without it.
    (
        (
            "Amina took the kettle. Amina went to the attic. Bruno went to the cellar. Bruno grabbed the kettle. Amina "
            "went to the library."
        ),
        StoryQuestion("kettle"),
        "cellar",
    ),
    (
        (
            "Amina took the kettle. Bruno went to the cellar. Amina went to the attic. Bruno discarded the kettle. Amina "
            "went to the library."
        ),
        StoryQuestion("kettle"),
        "cellar",
    ),
    # Before: where it was carried from.
    (
        "Amina went to the attic. Amina took the kettle. Amina went to the cellar.",
        StoryQuestion("kettle", "cellar"),
        "attic",
    ),
    (
        "Amina went to the attic. Amina took the kettle. Amina went to the cellar.",
        StoryQuestion("kettle", "attic"),
        None,
    ),
    (
        "Amina took the kettle. Amina went to the cellar. Amina went to the orchard.",
        StoryQuestion("kettle", "cellar"),
        None,
    ),
    # Of two arrivals the last counts, also where it is the one from an unknown place.
    (
        (
            "Amina took the kettle. Amina went to the attic. Amina went to the cellar. Amina went to the library. Amina "
            "went to the cellar."
        ),
        StoryQuestion("kettle", "cellar"),
        "library",
    ),
    (
        (
            "Amina took the kettle. Amina went to the attic. Amina went to the cellar. Bruno took the kettle. Bruno went "
            "to the cellar."
        ),
        StoryQuestion("kettle", "cellar"),
        None,
    ),
    # Going to where one is already brings nothing there.
    (
        "Amina took the kettle. Amina went to the attic. Amina went to the cellar. Amina hurried to the cellar.",
        StoryQuestion("kettle", "cellar"),
        "attic",
    ),
    # Who dropped it on the way comes without it.
    (
        "Amina took the kettle. Amina went to the attic. Amina dropped the kettle. Amina went to the cellar.",
        StoryQuestion("kettle", "cellar"),
        None,
    ),
    # Who drops it and takes nothing leaves a later arrival without it; the earlier one stands.
    (
        (
            "Amina took the kettle. Amina went to the attic. Amina went to the cellar. Amina dropped the kettle. Amina "
            "went to the library. Amina went to the cellar."
        ),
        StoryQuestion("kettle", "cellar"),
        "attic",
    ),
]


@pytest.mark.parametrize("text,question,expected", BY_HAND)
def test_answers_worked_out_by_hand(text, question, expected):
    assert answer(events_of(text), question) == expected
    assert read(sentences_of(text), question.sentence) == expected


@settings(max_examples=150, deadline=None)
@given(EVENTS)
def test_any_sentences_in_any_order_are_answered_as_the_slow_reader_answers(sentences):
    events = events_of(" ".join(sentences))
    for question in QUESTIONS:
        assert answer(events, question) == read(sentences, question.sentence)


@ALL
def test_the_slow_reader_gives_every_storys_answer(task, redundant):
    for story in told(task, redundant):
        assert read(sentences_of(story.text), story.question.sentence) == story.answer
        assert story.answer in ROOMS


@ALL
def test_the_evidence_is_enough_whichever_sentence_of_a_fact_is_kept(task, redundant):
    for story in told(task, redundant):
        sentences = sentences_of(story.text)
        for kept in [evidence_sentences(story), *one_of_each(story)]:
            assert read([sentences[i] for i in sorted(kept)], story.question.sentence) == story.answer, (story, kept)


@ALL
def test_without_every_sentence_of_any_one_fact_the_answer_is_another_or_none(task, redundant):
    for story in told(task, redundant):
        sentences = sentences_of(story.text)
        for fact in story.facts:
            assert read(without(sentences, fact), story.question.sentence) != story.answer, (story, fact)
            # Nor do the other facts alone say it.
            others = evidence_sentences(story) - set(fact)
            assert read([sentences[i] for i in sorted(others)], story.question.sentence) != story.answer


@ALL
def test_a_gap_in_place_of_any_one_fact_leaves_the_answer_open(task, redundant):
    for story in told(task, redundant)[::10]:
        sentences = sentences_of(story.text)
        for fact in story.facts:
            # Of a fact told twice one gap is filled and the other stays empty: two fillings that disagree are enough.
            for gap in fact:
                left = without(sentences, set(fact) - {gap})
                found = set(read_around(left, gap - sum(i < gap for i in fact), story.question.sentence))
                # Not even that something happened in the gap settles it. (Who also reasons that a later drop needs an
                # earlier taking
                # can find some missing takings of task 3: that is another reading, and no story promises anything in
                # it.)
                assert len(found) > 1 and story.answer in found, (story, fact)


@pytest.mark.parametrize("task", (1, 2, 3))
def test_of_a_fact_told_twice_one_sentence_can_be_missed(task):
    for story in told(task, 1.0):
        sentences = sentences_of(story.text)
        assert all(
            read(without(sentences, {i}), story.question.sentence) == story.answer for i in evidence_sentences(story)
        ), story
        # And so can one of every fact, in a story that keeps all the rest.
        for kept in one_of_each(story):
            assert (
                read(without(sentences, evidence_sentences(story) - kept), story.question.sentence) == story.answer
            ), (story, kept)


@ALL
def test_no_sentence_outside_the_evidence_is_needed_but_a_drop_that_ended_the_carrying(task, redundant):
    for story in told(task, redundant):
        sentences, supporting = sentences_of(story.text), evidence_sentences(story)
        for i in set(range(len(sentences))) - supporting:
            if read(without(sentences, {i}), story.question.sentence) != story.answer:
                # Without this drop the thing would have been carried to the place once more, from elsewhere.
                assert (
                    task == 3 and deed(sentences[i])[1:] == ("drops", story.question.what) and i > max(story.facts[-1])
                ), (story, i)


def assert_possible(sentences: list[str]):
    """Nobody goes where they are, takes what is held or lies elsewhere, or drops what they do not hold, wherever all
    were at first.
    """
    deeds = [deed(sentence) for sentence in sentences]

    def spot(person: str, moment: int) -> str:
        # Were everybody at first at a place of their own, outside the story, then equal names are equal places.
        return person_at(deeds, person, moment) or f"where {person} was at first"

    for i, (who, kind, what) in enumerate(deeds):
        if kind == "goes":
            assert spot(who, i) != what, (sentences, i)
        elif kind == "drops":
            assert keeper(deeds, what, i) == who, (sentences, i)
        else:
            assert keeper(deeds, what, i) is None, (sentences, i)
            dropped = handling(deeds, what, i)
            # What nobody has touched lies wherever it is first taken.
            assert dropped is None or spot(deeds[dropped][0], dropped) == spot(who, i), (sentences, i)


@ALL
def test_what_is_told_can_have_happened(task, redundant):
    for story in told(task, redundant):
        assert_possible(without(sentences_of(story.text), {fact[1] for fact in story.facts if len(fact) == 2}))


@pytest.mark.parametrize("task", (1, 2, 3))
def test_a_fact_is_told_again_while_it_holds_and_in_another_verb(task):
    for story in told(task, 1.0):
        sentences = sentences_of(story.text)
        deeds = [deed(sentence) for sentence in sentences]
        for once, again in story.facts:
            who, kind, what = deeds[again]
            assert deeds[once] == (who, kind, what) and sentences[once] != sentences[again]
            if kind == "goes":
                assert person_at(deeds, who, again) == what
            elif kind == "takes":
                assert keeper(deeds, what, again) == who
            else:
                assert keeper(deeds, what, again) is None and thing_at(deeds, what, again) == person_at(
                    deeds, who, again
                )


@settings(max_examples=60, deadline=None)
@given(STORIES)
def test_evidence_spells_out_who_did_what_and_nothing_else(story):
    sentences = sentences_of(story.text)
    spans = story.evidence
    assert all(0 <= start < end <= len(story.text) for start, end in spans)
    assert all(end < start for (_, end), (start, _) in pairwise(spans))
    expected = [
        word
        for i in sorted(evidence_sentences(story))
        for word in sentences[i].rstrip(".").split()
        if word not in ("to", "the")
    ]
    assert [story.text[start:end] for start, end in spans] == expected
    # Three words of each supporting sentence, at that sentence.
    starts = [sum(len(s) + 1 for s in sentences[:i]) for i in sorted(evidence_sentences(story))]
    assert [start for start, _ in spans[::3]] == starts


@settings(max_examples=60, deadline=None)
@given(st.sampled_from((1, 2, 3)), st.integers(0, 10**6), st.integers(0, 20), st.sampled_from((0.0, 1.0)))
def test_stories_are_as_long_as_asked_and_rest_on_as_many_facts(task, seed, more, redundant):
    story = next(stories(task, seed, 2 * task + more, redundant))
    assert len(sentences_of(story.text)) == len(story.events) == 2 * task + more
    assert len(story.facts) == task and all(len(fact) == 1 + (redundant == 1) for fact in story.facts)
    listed = [i for fact in story.facts for i in fact]
    assert len(set(listed)) == len(listed) and all(list(fact) == sorted(fact) for fact in story.facts)
    # The question is of the task: a person, a thing, a thing before.
    asked = WHERE_IS.fullmatch(story.question.sentence)
    assert (asked is None) == (task == 3) and (task == 3 or (asked[1] in PEOPLE) == (task == 1))


def test_lengths_are_6_10_and_14_when_none_is_asked():
    for task, length in {1: 6, 2: 10, 3: 14}.items():
        for redundant in (0.0, 1.0):
            assert {len(story.events) for story in first(task, 5, 50, redundant=redundant)} == {length}
        assert first(task, 5, 20) == first(task, 5, 20, sentences=length)


@pytest.mark.parametrize("task", (1, 2, 3))
def test_the_seed_decides_all(task):
    assert first(task, 7, 50) == first(task, 7, 50)
    assert first(task, 7, 50, redundant=0.5) == first(task, 7, 50, redundant=0.5)
    assert not {story.text for story in first(task, 7, 50)} & {story.text for story in first(task, 8, 50)}


@pytest.mark.parametrize("share", (0, 1))
def test_a_share_is_the_same_however_the_number_is_written(share):
    assert first(2, 7, 10, redundant=share) == first(2, 7, 10, redundant=float(share))


@pytest.mark.parametrize("task", (1, 2, 3))
def test_answers_are_spread_over_all_places_and_few_stories_are_told_again(task):
    found = first(task, 3, 3000)
    counts = Counter(story.answer for story in found)
    assert sorted(counts) == ROOMS and all(0.12 * 3000 <= count <= 0.22 * 3000 for count in counts.values())
    if task > 1:
        assert len({story.text for story in found}) > 0.99 * 3000


def test_the_share_told_twice_is_as_asked():
    twice = sum(len(story.facts[0]) == 2 for story in first(3, 3, 1000, redundant=0.25))
    assert 200 < twice < 300


@pytest.mark.parametrize(
    "task,options,named",
    [
        (4, {}, "4"),
        (0, {}, "0"),
        ("1", {}, "'1'"),
        (None, {}, "None"),
        (1, {"sentences": 1}, "1 sentences"),
        (2, {"sentences": 3}, "3 sentences"),
        (3, {"sentences": 5}, "5 sentences"),
        (3, {"sentences": -1}, "-1 sentences"),
        (1, {"redundant": -0.1}, "-0.1"),
        (1, {"redundant": 1.5}, "1.5"),
        (1, {"redundant": float("nan")}, "nan"),
    ],
)
def test_what_cannot_be_told_is_refused_at_the_call_by_name(task, options, named):
    with pytest.raises(ValueError, match=re.escape(named)):
        stories(task, 0, **options)


# Data sets, references and trained models rest on these: a change of the generator is a change of them.
PINNED = {
    (1, 0.0): "ba2ea7e7c1318765",
    (1, 1.0): "c50f67586bb5f984",
    (2, 0.0): "2ae388db20efeb6c",
    (2, 1.0): "f93c12d8afc8fa82",
    (3, 0.0): "3f94801c926cd502",
    (3, 1.0): "0fb7907e8c7ba9d7",
}


@ALL
def test_the_first_stories_stay_as_they_are(task, redundant):
    content = json.dumps(
        [(s.text, s.question.sentence, s.answer, s.facts, s.evidence) for s in first(task, 0, 3, redundant=redundant)]
    )
    assert hashlib.sha256(content.encode()).hexdigest()[:16] == PINNED[task, redundant]


@pytest.mark.parametrize("task", (1, 2, 3))
def test_the_stories_that_ship_are_examples_with_their_evidence(task):
    found = bundled_set(f"stories {task}")
    assert found.name in bundled_data() and len(found) == 200 and sorted(found.classes) == ROOMS
    assert len({example.id for example in found.examples}) == 200
    for number, example in enumerate(found.examples, start=1):
        assert example.tags == (("told twice",) if number % 4 == 0 else ())
        assert example.label in found.classes and read(sentences_of(example.text), example.second) == example.label
        # Three words a sentence.
        assert len(example.evidence) == 3 * task * (1 + (number % 4 == 0))
        assert all(0 <= start < end <= len(example.text) for start, end in example.evidence)
        assert not {"to", "the", "."} & {example.text[start:end] for start, end in example.evidence}
        # The marked words alone say the label.
        words = [example.text[start:end] for start, end in example.evidence]
        kept = [
            f"{who} {verb} {'to ' if what in ROOMS else ''}the {what}."
            for who, verb, what in zip(words[::3], words[1::3], words[2::3])
        ]
        assert read(kept, example.second) == example.label

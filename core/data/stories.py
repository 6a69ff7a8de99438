"""Stories with a question whose evidence is known: one, two or three supporting facts, as in bAbI tasks 1 to 3."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

TASKS = (1, 2, 3)
# Sentences of a story, as short as leaves room for facts that mislead.
LENGTHS = {1: 6, 2: 10, 3: 14}
ACTORS = ("Amina", "Bruno", "Chidi", "Dalia")
PLACES = ("attic", "bakery", "cellar", "harbour", "library", "orchard")
THINGS = ("compass", "kettle", "lantern")
GO, TAKE, DROP = "go", "take", "drop"
VERBS = {
    GO: ("went", "walked", "hurried", "returned"),
    TAKE: ("took", "grabbed", "lifted"),
    DROP: ("dropped", "released", "discarded"),
}
# Words that no fact lives in.
EMPTY_WORDS = ("to", "the", ".", "?", "Where", "is", "was", "before")


@dataclass(frozen=True, slots=True)
class Event:
    """One sentence: an actor goes to a place, takes a thing or drops it; `verb` is how that is said."""

    actor: str
    kind: str
    what: str
    verb: str

    @property
    def sentence(self) -> str:
        return f"{self.actor} {self.verb} {'to ' if self.kind == GO else ''}the {self.what}."


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """Where is `what`, an actor or a thing; or, with `before`, where was it before it came there the last time."""

    what: str
    before: str | None = None

    @property
    def sentence(self) -> str:
        named = self.what if self.what in ACTORS else f"the {self.what}"
        return f"Where is {named}?" if self.before is None else f"Where was {named} before the {self.before}?"


@dataclass(frozen=True, slots=True)
class Story:
    """Events, a question, its answer (a place), and for each supporting fact the sentences that state it."""

    events: tuple[Event, ...]
    question: StoryQuestion
    answer: str
    facts: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        return " ".join(event.sentence for event in self.events)

    @property
    def evidence(self) -> tuple[tuple[int, int], ...]:
        """Characters [start, end) of the words that state the supporting facts, in order of the text."""
        supporting = {i for fact in self.facts for i in fact}
        spans, at = [], 0
        for i, event in enumerate(self.events):
            for word in event.sentence[:-1].split(" ") if i in supporting else ():
                start = event.sentence.index(word)
                if word not in EMPTY_WORDS:
                    spans.append((at + start, at + start + len(word)))
            at += len(event.sentence) + 1
        return tuple(spans)


class World:
    """Who is where, who holds what and where things lie, as far as events tell: nothing happens but what is told.

    Who took a thing has it until they drop it or somebody else takes it, and it goes where they go. Who drops a thing
    had it.
    """

    def __init__(self):
        self.place: dict[str, str] = {}
        self.holder: dict[str, str] = {}
        # Under its dropper's name where that place is not told: there only they can take it, as long as they stay.
        self.lies: dict[str, str] = {}

    def happen(self, event: Event) -> None:
        """Let one event happen."""
        if event.kind == GO:
            self.place[event.actor] = event.what
        elif event.kind == TAKE:
            self.holder[event.what] = event.actor
            self.lies.pop(event.what, None)
        else:
            self.holder.pop(event.what, None)
            self.lies[event.what] = self.spot(event.actor)

    def spot(self, actor: str) -> str:
        """Where an actor is; their name where that is not told."""
        return self.place.get(actor, actor)

    def where(self, what: str) -> str | None:
        """The place of an actor or a thing; None where it is not told."""
        found = self.place.get(self.holder.get(what, what), self.lies.get(what))
        return found if found in PLACES else None


def stories(task: int, seed: int, sentences: int | None = None, redundant: float = 0.0) -> Iterator[Story]:
    """Tell stories without end, the same for the same seed.

    The evidence is sufficient (what is left when all else is removed has the same answer) and necessary
    (removing every sentence of any one fact leaves another answer or none), both in the reading of `answer`.

    Args:
        task: supporting facts, 1, 2 or 3: where an actor is, where a thing is, where a thing was before.
        seed: of all choices.
        sentences: of each story; None takes 6, 10 or 14.
        redundant: share of stories in which every supporting fact is stated twice.
    Raises:
        ValueError: no such task, fewer sentences than its facts take, or a share outside [0, 1].
    Source: Weston et al. (2015), Towards AI-Complete Question Answering, tasks 1 to 3; vocabulary and rules are our
    own.
    """
    if task not in TASKS:
        raise ValueError(f"task is {task!r}; it must be one of {TASKS}")
    sentences = LENGTHS[task] if sentences is None else sentences
    if sentences < 2 * task:
        raise ValueError(f"{sentences} sentences are too few: task {task} needs at least {2 * task}")
    if not 0 <= redundant <= 1:
        raise ValueError(f"redundant is {redundant}; it is a share from 0 to 1")
    rng = random.Random(f"stories {task} {seed} {sentences} {float(redundant)}")
    return _told(task, sentences, redundant, rng)


def _told(task: int, sentences: int, redundant: float, rng: random.Random) -> Iterator[Story]:
    while True:
        twice = rng.random() < redundant
        story = None
        while story is None:
            story = _attempt(task, sentences - task if twice else sentences, twice, rng)
        yield story


def _attempt(task: int, length: int, twice: bool, rng: random.Random) -> Story | None:
    events = _walk(task, length, rng)
    question = _question(task, events, rng)
    if question is None:
        return None
    told, facts = answer(events, question), _supporting(events, question)
    if told is None or facts is None:
        return None
    story = Story(events, question, told, facts)
    if twice:
        story = _restated(story, rng)
    return story if _sound(story) else None


def _walk(task: int, length: int, rng: random.Random) -> tuple[Event, ...]:
    """Random events that a world allows: nobody goes where they are, or drops what they do not hold."""
    world, events = World(), []
    for _ in range(length):
        actor, kind = _pick(ACTORS, rng), GO
        if task > 1:
            held = [thing for thing in THINGS if world.holder.get(thing) == actor]
            free = [
                thing
                for thing in THINGS
                if thing not in world.holder and world.lies.get(thing) in (None, world.spot(actor))
            ]
            chance = rng.random()
            kind = DROP if held and chance < 0.15 else TAKE if free and chance > 0.55 else GO
        if kind == GO:
            choices = [place for place in PLACES if place != world.place.get(actor)]
        else:
            choices = free if kind == TAKE else held
        events.append(Event(actor, kind, _pick(choices, rng), _pick(VERBS[kind], rng)))
        world.happen(events[-1])
    return tuple(events)


def _question(task: int, events: tuple[Event, ...], rng: random.Random) -> StoryQuestion | None:
    """One of the questions that the events answer; None where there is none."""
    if task == 1:
        asked = [StoryQuestion(actor) for actor in ACTORS]
    elif task == 2:
        asked = [StoryQuestion(thing) for thing in THINGS]
    else:
        asked = [StoryQuestion(thing, place) for thing in THINGS for place in PLACES]
    answered = [question for question in asked if answer(events, question) is not None]
    return _pick(answered, rng) if answered else None


def answer(events: tuple[Event, ...], question: StoryQuestion) -> str | None:
    """The place that a question asks for, as far as these events say, see `World`; None where they do not."""
    world = World()
    came_from: dict[tuple[str, str], str | None] = {}
    for event in events:
        before = world.where(event.actor)
        if event.kind == GO and before != event.what:
            came_from |= {(thing, event.what): before for thing, actor in world.holder.items() if actor == event.actor}
        world.happen(event)
    return world.where(question.what) if question.before is None else came_from.get((question.what, question.before))


def _supporting(events: tuple[Event, ...], question: StoryQuestion) -> tuple[tuple[int], ...] | None:
    """The events that an answer rests on, found from the end; None where a thing came without being carried."""

    def last(kind: str, actor: str | None = None, what: str | None = None, before: int = len(events)) -> int | None:
        return next(
            (
                i
                for i in range(before - 1, -1, -1)
                if events[i].kind == kind and actor in (None, events[i].actor) and what in (None, events[i].what)
            ),
            None,
        )

    if question.what in ACTORS:
        found = (last(GO, question.what),)
    elif question.before is None:
        took, dropped = last(TAKE, what=question.what), last(DROP, what=question.what)
        handled = max(i for i in (took, dropped) if i is not None)
        end = len(events) if handled == took else handled
        found = (handled, last(GO, events[handled].actor, before=end))
    else:
        found = _carried(events, question, last)
    return None if found is None or None in found else tuple((i,) for i in sorted(i for i in found if i is not None))


def _carried(events, question: StoryQuestion, last) -> tuple | None:
    """The last arrival of a thing at a place in somebody's hands, their taking it, and where they came from."""
    for i in range(len(events) - 1, -1, -1):
        event = events[i]
        if event.kind != GO or event.what != question.before:
            continue
        took, dropped = last(TAKE, what=question.what, before=i), last(DROP, what=question.what, before=i)
        if took is not None and events[took].actor == event.actor and (dropped is None or dropped < took):
            return took, last(GO, event.actor, before=i), i
    return None


def _restated(story: Story, rng: random.Random) -> Story:
    """The same story with every supporting fact told again later, while it still holds, in another verb."""
    events, facts = list(story.events), [list(fact) for fact in story.facts]
    for fact in facts:
        first = events[fact[0]]
        ends = [i for i in range(fact[0] + 1, len(events)) if _overtakes(events[i], first)]
        at = rng.randrange(fact[0] + 1, (ends[0] if ends else len(events)) + 1)
        verb = _pick([verb for verb in VERBS[first.kind] if verb != first.verb], rng)
        events.insert(at, Event(first.actor, first.kind, first.what, verb))
        for other in facts:
            other[:] = [i + (i >= at) for i in other]
        fact.append(at)
    return Story(tuple(events), story.question, story.answer, tuple(tuple(fact) for fact in facts))


def _overtakes(event: Event, first: Event) -> bool:
    """Whether after this event saying `first` again would tell something new."""
    if first.kind == GO:
        return event.kind == GO and event.actor == first.actor
    # What was dropped lies where its last holder then stood.
    moved = first.kind == DROP and event.kind == GO and event.actor == first.actor
    return moved or (event.kind != GO and event.what == first.what)


def _sound(story: Story) -> bool:
    """Whether any sentence of each fact is enough for the answer, and no fact can be missed."""
    told = answer(story.events, story.question)
    evidence = {i for fact in story.facts for i in fact}
    if told != story.answer:
        return False
    for choice in product(*({fact, *zip(fact)} for fact in story.facts)):
        kept = {i for stated in choice for i in stated}
        if (
            _reading(story, kept.__contains__) != told
            or _reading(story, lambda i, kept=kept: i in kept or i not in evidence) != told
        ):
            return False
    return all(_reading(story, lambda i, fact=fact: i not in fact) != told for fact in story.facts)


def _reading(story: Story, stays) -> str | None:
    return answer(tuple(event for i, event in enumerate(story.events) if stays(i)), story.question)


def _pick(choices, rng: random.Random):
    return choices[int(rng.random() * len(choices))]

"""All questions over a sample: every file in this room is loaded and registers what it asks."""

from core.evaluation import studies as room
from core.evaluation.study import REGISTERED, Offered, Question
from core.registers import load_files


def questions() -> dict[str, type[Question]]:
    """Every question by name, in the order of menus."""
    load_files(room)
    return dict(sorted(REGISTERED.items(), key=lambda item: (item[1].order, item[0])))


def own_choices() -> dict[str, Offered]:
    """What any of them can be asked by that is its own."""
    return {name: one for question in questions().values() for name, one in question.own_choices().items()}

"""Combinations of choices without trying them all: every two values of different choices meet at least once."""

from itertools import combinations


def pairs(**choices) -> list[dict]:
    """Rows of one value a choice, so few that each adds something; the same rows every time.

    Most faults need one value or two that meet; all pairs of f choices of v values take about v² rows where all
    combinations take v^f.

    Args:
        choices: for each choice its values, at least two choices.
    """
    names = list(choices)
    unmet = {
        frozenset({(a, i), (b, j)}): None
        for a, b in combinations(names, 2)
        for i in range(len(choices[a]))
        for j in range(len(choices[b]))
    }
    rows = []
    while unmet:
        # The first pair that has not met yet, and for every other choice what adds most to it.
        row = dict(next(iter(unmet)))
        for name in names:
            if name not in row:
                row[name] = max(
                    range(len(choices[name])),
                    key=lambda i, name=name: (
                        sum(frozenset({(name, i), other}) in unmet for other in row.items()),
                        -sum(one[name] == i for one in rows),
                    ),
                )
        for pair in combinations(row.items(), 2):
            unmet.pop(frozenset(pair), None)
        rows.append(row)
    return [{name: choices[name][row[name]] for name in names} for row in rows]

"""Colours, one place for all pages and figures; safe for colour-blind eyes, never the only sign."""

from core.measures.catalogue import is_measure, measure

SUPPORTS, OPPOSES = "#2b7bba", "#d97a1e"
# What matters either way: neither of the two.
UNSIGNED = "#8c6bb1"
OUT_OF_DISTRIBUTION = "#c1121f"
RANDOM = "#8a8a8a"
# What the model itself allows: the limits of AOPC.
LIMIT = "#6b7fd7"
# Most that a word's background takes of a hue: text keeps a contrast of 4.5:1 in both themes.
STRONGEST = 0.62
_SPARE = ("#4b7f52", "#c77d3a", "#5d6bb0", "#a05d7a", "#6b8e9e")

# Classes, apart for colour-blind eyes; blue and orange come late, since they stand for shares beside them.
_CLASSES = ("#009e73", "#cc79a7", "#7a5195", "#b8860b", "#0072b2", "#d97a1e")


def custom_properties(selector: str, colours: dict[str, str]) -> str:
    """A rule of CSS that names colours for the style sheets after it: "for" is var(--for) there."""
    return f"{selector} {{\n" + "".join(f"  --{name}: {colour};\n" for name, colour in colours.items()) + "}\n"


def class_hue(place: int) -> str:
    """The colour of a class by its place; from the seventh on they repeat, so a symbol must stand beside it."""
    return _CLASSES[place % len(_CLASSES)]


def share_hue(share: float) -> str:
    """The colour of a share in [0, 1]: from blue, nothing masked, to orange, everything."""
    return blend(OPPOSES, SUPPORTS, share)


def hue(name: str) -> str:
    """A measure's colour as it is registered, the same on every page, grey for a baseline; what is no measure, an
    attribution set by hand, takes a spare one by its name.
    """
    if is_measure(name):
        return measure(name).hue or RANDOM
    return _SPARE[sum(name.encode()) % len(_SPARE)]


def blend(colour: str, background: str, share: float) -> str:
    """Mix `share` of a colour into a background, both "#rrggbb" → "#rrggbb"."""
    mixed = (round(share * a + (1 - share) * b) for a, b in zip(rgb(colour), rgb(background)))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def rgb(colour: str) -> tuple[int, ...]:
    """Red, green and blue of "#rrggbb", each 0..255."""
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))

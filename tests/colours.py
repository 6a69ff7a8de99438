"""Whether what is written can be read on its ground."""


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, in [1, 21]; text needs at least 4.5 (WCAG 2.2, 1.4.3)."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (part / 255 for part in (int(colour[i : i + 2], 16) for i in (1, 3, 5)))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

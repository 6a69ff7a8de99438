"""What traits of examples are called in menus and files."""

TRAIT_NAMES = {
    "rejected": "first rejected step",
    "changes": "words until the prediction changes",
    "disagreement": "disagreement of measures",
    "twin": "twin differs",
}

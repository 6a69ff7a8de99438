"""A component from the files beside this one: NAME.html, NAME.css and NAME.js, with what they import put in.

Streamlit takes a component's style and script as one text each, so `import { … } from './x.js'` and `@import
'./x.css'`, which editors and linters follow, are replaced by the file itself, each once.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from core.figures.palette import OPPOSES, OUT_OF_DISTRIBUTION, SUPPORTS, UNSIGNED, custom_properties

FOLDER = Path(__file__).parent
_COLOURS = custom_properties(
    ":host", {"for": SUPPORTS, "against": OPPOSES, "unsigned": UNSIGNED, "warn": OUT_OF_DISTRIBUTION}
)
_IMPORT = re.compile(r"^(?:import \{[^}]*\} from|@import) '\./([\w.]+)';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def component(name: str, *events: str) -> Callable:
    """Registers a component once, while its module is imported; what it returns draws it from data and a key.

    Args:
        events: names of the states that the script sets; each is an attribute of what drawing returns.
    """
    drawn = st.components.v2.component(
        f"faithscope_{name}",
        html=with_imports(f"{name}.html"),
        css=_COLOURS + with_imports(f"{name}.css"),
        js=with_imports(f"{name}.js"),
    )

    def draw(data: dict, key: str) -> Any:
        # As one string: Streamlit asks pandas about lists and numbers, and importing pandas takes longer than all the
        # rest.
        heard: dict[str, Any] = {f"on_{event}_change": lambda: None for event in events}
        return drawn(data={"json": json.dumps(data)}, key=key, **heard)

    return draw


def with_imports(name: str, put_in: set[str] | None = None) -> str:
    """A file's text after those that it imports, each of which stands once."""
    put_in = set() if put_in is None else put_in
    if name in put_in:
        return ""
    put_in.add(name)
    text = (FOLDER / name).read_text(encoding="utf-8")
    return _IMPORT.sub(lambda found: with_imports(found[1], put_in), _EXPORT.sub("", text))

"""One person's session with the app, without a browser: what the page sends, holds and says."""

import html
import json
import re
import time
from contextlib import nullcontext
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from streamlit.elements.lib.mutable_tab_container import TabContainer
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parent.parent
HOME, ATTRIBUTIONS, EXAMPLES = "app.py", "pages/attributions.py", "pages/examples.py"
PAGES = [HOME, *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "pages").glob("*.py"))]

# What download buttons write when they are pressed, and the names of these files, by the id that the browser would
# ask for.
WAITING: dict = {}
NAMES: dict[str, str] = {}
ALL_OPEN = property(lambda _: True, lambda *_: None)


class App:
    """One person's session; the first request may carry query parameters. Who looks behind every tab at once sees all
    that a page draws; with `tabs` False only what is behind the open ones.
    """

    tabs = True

    def __init__(self, page: str = HOME, /, **query):
        self.at = AppTest.from_file(str(ROOT / HOME), default_timeout=180)
        self.at.query_params.update(dict(query.items()))
        self.go(page)

    def go(self, page: str):
        self.at.switch_page(page)
        return self.run()

    def run(self):
        with mock.patch.object(TabContainer, "open", ALL_OPEN) if self.tabs else nullcontext():
            self.at.run()
        assert not self.at.exception, self.at.exception[0].message
        return self

    def widget(self, kind: str, label: str, exact: bool = True):
        found = [w for w in self.at.get(kind) if w.label == label or (not exact and w.label.startswith(label))]
        assert len(found) == 1, f"{len(found)} of {kind} {label!r}; there are {[w.label for w in self.at.get(kind)]}"
        return found[0]

    def has(self, kind: str, label: str) -> bool:
        return any(w.label.startswith(label) for w in self.at.get(kind))

    def press(self, label: str, exact: bool = True):
        self.widget("button", label, exact).click()
        return self.run()

    def set(self, kind: str, label: str, value):
        self.widget(kind, label).set_value(value)
        return self.run()

    def open_box(self):
        if not self.at.text_area:
            self.set("toggle", "Type or edit a text", True)
        return self

    def type(self, text: str, second: str = ""):
        self.open_box()
        self.widget("text_area", "Text").set_value(text)
        # There is one where the model reads two texts.
        if second or self.has("text_area", "Second text"):
            self.widget("text_area", "Second text").set_value(second)
        return self.press("Explain")

    @property
    def components(self) -> list:
        return [
            e
            for e in self.at.main
            if getattr(e, "type", "") == "bidi_component" and e.proto.component_name != "faithscope_pictures"
        ]

    @property
    def shown(self) -> bool:
        """Whether the page shows an example: its words, a table, or what the model says of it, or of a sample."""
        told = (
            " predicts ",
            "Ask for random order below",
            "with everything masked",
            "can be asked for below",
            "prefer measures to random",
        )
        return bool(self.components or self.headlines) or any(part in self.said for part in told)

    @property
    def words(self) -> dict:
        """What the page sends to its word component."""
        drawn = self.drawn("pieces")
        # Home plays the words besides; elsewhere one component has rows.
        (found,) = [data for data in drawn if "rows" in data] or drawn[-1:]
        return found

    @property
    def table(self) -> dict:
        """What the page Examples sends to its table."""
        (found,) = self.drawn("facets")
        return found

    def drawn(self, part: str) -> list[dict]:
        sent = (json.loads(json.loads(component.proto.json)["json"]) for component in self.components)
        return [data for data in sent if part in data]

    @property
    def rows(self) -> dict[str, dict]:
        return {row["name"]: row for row in self.words.get("rows", [])} if self.drawn("pieces") else {}

    @property
    def text(self) -> str:
        """The text as the word component shows it, up to its last word."""
        return "".join(piece["gap"] + piece["text"] for piece in self.words["pieces"])

    @property
    def tables(self) -> list[list[list[str]]]:
        """The cells of every table, heads included: those drawn as HTML, then the sortable ones, numbers as they show."""
        drawn = [re.search(r"<table.*</table>", element.value, re.DOTALL) for element in self.at.html]
        return [
            [["".join(cell.itertext()) for cell in row] for row in ElementTree.fromstring(found[0]).iter("tr")]
            for found in drawn
            if found
        ] + [_cells(table.value) for table in self.at.dataframe]

    @property
    def headlines(self) -> list[tuple[str, str, str]]:
        """Of each headline its question, its outcome and its words."""
        return self._results("headline")

    @property
    def findings(self) -> list[tuple[str, str, str]]:
        """The same of what parts of the page come to."""
        return self._results("finding")

    def _results(self, kind: str) -> list[tuple[str, str, str]]:
        pattern = f"<p class='{kind}' data-question='(.*?)' data-outcome='(.*?)'>(.*)</p>$"
        found = [re.match(pattern, e.value) for e in self.at.html]
        return [(one[1], one[2], html.unescape(re.sub(r"<[^>]*>", "", one[3]))) for one in found if one]

    @property
    def outcomes(self) -> list[str]:
        """The outcomes of the page's headlines."""
        return [outcome for _, outcome, _ in self.headlines]

    @property
    def badges(self) -> list[str]:
        """The texts of all badges."""
        found = [re.match(r":[a-z]+-badge\[(.*)\]$", e.value) for e in self.at.markdown]
        return [unescaped(one[1]) for one in found if one]

    @property
    def facts(self) -> dict[str, str]:
        """The facts that stand as metrics: {label: value}."""
        return {unescaped(one.label): unescaped(one.value) for one in self.at.metric}

    @property
    def agreement(self) -> list[list[list[str]]]:
        """The squares of agreement: numbers by measure and measure."""
        return [
            table
            for table in self.tables
            if len(table) == len(table[0]) and table[0][1:] == [row[0] for row in table[1:]]
        ]

    def download(self, label: str) -> str:
        """What a button saves, as text; written on the click only."""
        button = self.widget("download_button", label)
        return _saved(button.proto.deferred_file_id)

    @property
    def downloads(self) -> dict[str, str]:
        """The names of the files that the buttons of the page save, and their texts."""
        asked = [button.proto.deferred_file_id for button in self.at.get("download_button")]
        return {NAMES[identifier]: _saved(identifier) for identifier in asked}

    @property
    def pictures(self) -> list[dict[str, str]]:
        """What the page says of each figure that can be saved: the name of its file, the line about it, its title."""
        drawn = [json.loads(json.loads(one.proto.json)["json"]) for one in self.at.main if one.type == "bidi_component"]
        every = [part for data in drawn for part in (data, *data.get("panes", ()))]
        return [part for part in every if part.get("about")]

    @property
    def example(self) -> str:
        return self.widget("selectbox", "Example").value

    @property
    def choice(self) -> tuple:
        return (
            self.widget("selectbox", "Model").value,
            self.widget("selectbox", "Data").value,
            self.widget("selectbox", "Explained class").value,
            self.widget("button_group", "Unit").value,
        )

    @property
    def errors(self) -> list[str]:
        return [unescaped(error.value) for error in self.at.error]

    @property
    def lacking(self) -> list[str]:
        """What a link asks for and is not here, as the page says: what it is of, and its name."""
        warned = unescaped(" ".join(one.value for one in self.at.warning))
        return re.findall(r"asks for (.*?), which is not here", warned, re.DOTALL)

    @property
    def said(self) -> str:
        """Everything that is written on the page, without its markup."""
        # A new paragraph parts words as a space does.
        drawn = " ".join(re.sub(r"<[^>]*>", "", re.sub(r"</p><p[^>]*>", " ", e.value)) for e in self.at.html)
        written = [
            e.value
            for kind in ("markdown", "caption", "warning", "info", "error", "header", "subheader")
            for e in self.at.get(kind)
        ]
        return unescaped(" ".join([drawn, *written]))

    def markup(self):
        """Every string that the browser would read as HTML or Markdown: (may hold raw HTML, string)."""
        for part in (self.at.main, self.at.sidebar):
            for element in part:
                kind, proto = getattr(element, "type", ""), getattr(element, "proto", None)
                if kind == "html":
                    yield True, element.proto.body
                for name in (
                    ("body", "label", "help", "text")
                    if kind not in ("html", "bidi_component") and proto is not None
                    else ()
                ):
                    value = getattr(proto, name, None)
                    if isinstance(value, str):
                        yield bool(getattr(proto, "allow_html", False)), value


def _cells(frame) -> list[list[str]]:
    """The header and the cells of a table, as they show."""

    def text(value) -> str:
        if value is None or value != value:
            return "—"
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    return [list(frame.columns), *([text(value) for value in row] for row in frame.itertuples(index=False))]


def _saved(identifier: str) -> str:
    saved = WAITING[identifier]()
    return (saved if isinstance(saved, str) else saved.decode("utf-8")).removeprefix("\ufeff")


def unescaped(markdown: str) -> str:
    """As it is read, with a percentage as it is written elsewhere."""
    return re.sub(r"\\([^\w\s])", r"\1", markdown).replace("\N{NO-BREAK SPACE}%", " %")


def wait(app: App, until, seconds: float = 120.0, rest: float = 0.1) -> App:
    """Rerun the page until something holds, as the polling fragment does in a browser; rest: how long at most it lets
    the server work undisturbed before it looks again.
    """
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "nothing came of it"
        _let_work(rest)
        app.run()
    return app


def ended(runner, timeout: float) -> None:
    """Wait for a run of the script, as `AppTest` does, without looking again and again whether it has ended."""
    runner._script_thread.join(timeout)
    assert not runner._script_thread.is_alive(), f"the page took longer than {timeout} seconds"


def complete(app: App) -> App:
    """Wait until nothing is computed any more, as the page says."""
    return wait(app, lambda: not app.at.get("progress") and not app.has("button", "Cancel"), rest=3.0)


def _let_work(seconds: float) -> None:
    """Let the jobs of the server come to their end, for at most so long: a page that is drawn takes time from them. Jobs
    that get no turn for half a second wait for the page.
    """
    from pages.parts.frame import resources

    end, before, moved = time.monotonic() + seconds, None, time.monotonic()
    time.sleep(0.01)
    while time.monotonic() < min(end, moved + 0.5):
        active = [*resources.jobs().active(), *resources.fetches().active()]
        if not active:
            break
        spent = [(job.key, job.seconds) for job in active]
        before, moved = (before, moved) if spent == before else (spent, time.monotonic())
        time.sleep(0.01)

"""The scripts of components in a real browser: each parses, finds what it imports, and is a component when put together."""

import pytest

from pages.parts.components.component import FOLDER, with_imports
from tests.browsing import script

SCRIPTS = sorted(path.name for path in FOLDER.glob("*.js"))


@pytest.fixture
def page(browser):
    """A page of an address of our own, where every file of the folder lies."""
    opened = browser.new_page()
    kinds = {".js": "text/javascript", ".css": "text/css"}

    def answer(route):
        path = FOLDER / route.request.url.rpartition("/")[2]
        if path.suffix in kinds:
            route.fulfill(body=path.read_text(encoding="utf-8"), content_type=f"{kinds[path.suffix]}; charset=utf-8")
        else:
            route.fulfill(body="<!DOCTYPE html>", content_type="text/html")

    opened.route("**/*", answer)
    opened.goto("http://components.test/")
    yield opened
    opened.close()


def test_every_script_parses_and_finds_what_it_imports(page):
    """As the modules that editors and linters read; a name that no file exports is an error."""
    found = {name: page.evaluate("async (name) => Object.keys(await import('/' + name))", name) for name in SCRIPTS}
    assert {name.removesuffix(".js") for name, names in found.items() if names == ["default"]} == {
        # Tables are a template, drawn without a script.
        path.stem
        for path in FOLDER.glob("*.html")
        if path.stem != "tables"
    }
    assert all(found.values()), found


@pytest.mark.parametrize(
    "limit, others, told",
    [
        # By itself: the share and the limit are one.
        (0.05, [], "MaSF p = 0.03 ↑ · limit 5 %"),
        # Holm before any rejection divides by all steps, then by those that are left.
        (0.05 / 11, [False], "MaSF p = 0.03 ↑ · limit 0.0045"),
        (0.05 / 7, [True], "MaSF p = 0.03 ↑ · limit 0.0071"),
    ],
)
def test_a_limit_stands_beside_p_and_on_the_scale(page, limit, others, told):
    step = {
        "probabilities": [0.2, 0.8],
        "probability_texts": ["0.2", "0.8"],
        "predicted": 1,
        "changed": False,
        "p": 0.03,
        "p_text": "0.03",
        "rejected": False,
        "layer_ps": None,
    }
    gate = {"available": True, "limit": limit}
    steps = [step, *({**step, "rejected": one} for one in others)]
    pane = {"classes": ["no", "yes"], "target": 1, "layers": [], "gate": gate, "steps": steps}
    data = {"alpha": 0.05, "alpha_text": "5 %"}
    said, ticks, hidden = page.evaluate(script("verdict"), {"data": data, "pane": pane, "step": step})
    assert said == told and not hidden and told.partition("limit ")[2] in ticks
    out = page.evaluate(script("verdict"), {"data": data, "pane": pane, "step": {**step, "rejected": True}})
    assert out[0] == "MaSF p = 0.03 ↑ · out-of-distribution ✕"
    none = page.evaluate(script("verdict"), {"data": data, "pane": pane, "step": {**step, "p": None}})
    assert none[0] == "no MaSF reference" and none[2]
    # Where little room is wanted p is told and no scale drawn.
    brief = page.evaluate(script("verdict"), {"data": {**data, "brief": True}, "pane": pane, "step": step})
    assert brief[0] == told and brief[2]


def test_every_script_parses_as_it_is_put_together(page):
    """As Streamlit gets it: without imports, each name defined once, nothing exported but the component."""
    for name in SCRIPTS:
        names = page.evaluate(
            "async (text) => Object.keys(await import(URL.createObjectURL(new Blob([text], {type: 'text/javascript'}))))",
            with_imports(name),
        )
        assert names == (["default"] if (FOLDER / name).with_suffix(".html").is_file() else []), name


def test_a_browser_keeps_every_rule_of_a_style_sheet(page):
    for path in FOLDER.glob("*.css"):
        whole = with_imports(path.name)
        kept = page.evaluate(
            "(text) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text); return sheet.cssRules.length; }",
            whole,
        )
        # A rule ends with a line of its own; two are Firefox's own.
        assert "@import" not in whole and kept == whole.count("\n}\n") - whole.count("::-moz-"), path.name


@pytest.mark.parametrize(
    "draws, kept",
    [
        # In its place, in another place, and after a drawing without it.
        ([("focus", "b"), ("", "abc"), ("", "cab")], "bbb"),
        ([("focus", "b"), ("anew", "abc"), ("", "abc")], "bbb"),
        ([("focus", "b"), ("", "ac"), ("", "abc"), ("anew", "ac"), ("", "b")], ["b", "", "b", "", "b"]),
        # The new place comes before the old one goes.
        ([("focus", "b"), ("beside", "abc"), ("", "abc")], "bbb"),
        # Whoever has gone elsewhere is not called back.
        ([("focus", "b"), ("elsewhere", "abc"), ("anew", "abc")], ["b", "", ""]),
        ([("focus", "b"), ("nowhere", ""), ("", "abc")], ["b", "", ""]),
        ([("focus", "b"), ("", "ac"), ("elsewhere", ""), ("", "abc")], ["b", "", "", ""]),
        ([("focus", "b"), ("", "ac"), ("focus", "c"), ("", "abc")], ["b", "", "c", "c"]),
    ],
)
def test_the_keyboard_stays_where_it_was_whatever_is_drawn_meanwhile(page, draws, kept):
    assert page.evaluate(script("focus_after_draws"), draws) == list(kept)

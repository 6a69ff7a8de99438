"""The page that saves what a text allows of AOPC: what it holds, that it holds nothing else, and that it says what the
page says.
"""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.data.examples import read_bundled
from core.explanation.limiting import DIRECTIONS, Found, OrderScore, Walk
from core.explanation.standings import (
    COMPREHENSIVENESS,
    SUFFICIENCY,
    Chance,
    StandingGates,
    StandingTable,
    build_standings,
    compare_standings,
)
from core.mathematics.aopc import prefix_masks
from core.mathematics.search.limits import Limits
from core.network.features import find_words
from core.reports.limits_page import LIMITS_STYLE, LimitsShown, SideLimits, limits_page
from core.reports.page import POLICY
from core.results.caveats import Caveat
from core.texts.rendering import fact_label, fact_text, headline
from core.validity.marks import HOLM, Gate
from pages.parts.limits import standing
from tests.app_session import App, complete
from tests.saved_page import ATTACKS, ATTRIBUTES, PLAIN, Page, shown_text
from tests.shown import shown
from tests.table import exact_limits

TEXT = "A good [MASK] film, not bad."
NAMES = ("leave-one-out", "gradient")
TAGS = {*PLAIN, "h3", "ol", "svg", "path"}
MORE = {"svg": {"class", "aria-hidden", "style", "viewbox"}, "path": {"d"}, "th": {"scope", "class"}}
SHARE = r"-?\d+\.\d\d?%"
STYLES = rf"(left|right|width):{SHARE}(;(color:#[0-9a-f]{{6}}|width:{SHARE}))?|background:#[0-9a-f]{{6}}"


def known_board(view, seed: int = 0, flat: bool = False) -> StandingTable:
    """Exact limits of a made-up model on the text of a view, with two measures between them."""
    of, F = view.encoded, view.encoded.F
    weights = np.zeros(F) if flat else np.random.default_rng(seed).normal(size=F)

    def value(masks):
        return 1 / (1 + np.exp(-(~masks @ weights)))

    def walked(order) -> Walk:
        return Walk(np.asarray(order), value(prefix_masks(order, F, of.premasked)), {})

    limits = exact_limits(value, F, of.premasked)
    free = np.flatnonzero(~of.premasked)
    scores = [
        OrderScore(name, dict(zip(DIRECTIONS, (walked(order), walked(order[::-1])))))
        for name, order in zip(NAMES, (free[np.argsort(-weights[free], kind="stable")], free))
    ]
    made = build_standings(
        Found(limits, walked(limits.lowest), walked(limits.highest), "float32"),
        scores,
        None,
        view.target,
        StandingGates(of, None),
    )
    return replace(
        made,
        chance=Chance(
            np.array([limits.lower, limits.upper]),
            (limits.lower + limits.upper) / 2,
            limits.lower,
            limits.upper,
            0.5,
            made.gates[0],
            "2 random orders",
            2,
        ),
    )


def rejecting(made: StandingTable, first: int) -> StandingTable:
    """The board of a model whose test rejects every masked input from `first` on, for comprehensiveness and for the
    upper limit.
    """

    def gate(at):
        steps = np.arange(len(made.highest.values))
        return Gate(None, steps >= at if at is not None else steps < 0, at, HOLM, 0.01, len(steps))

    standings = tuple(
        replace(one, gates={COMPREHENSIVENESS: gate(first), SUFFICIENCY: gate(None)}, limits_marked=True)
        for one in made.standings
    )
    return replace(made, standings=standings, gates=(gate(None), gate(first)))


def told(view, made: StandingTable, name: str = "story", caveats=()) -> tuple[SideLimits, list[list]]:
    """What the app says of a board."""
    known = SimpleNamespace(
        side=SimpleNamespace(
            model=SimpleNamespace(name=name),
            encoded=view.encoded,
            score_name=f"probability of {view.labels[view.target]}",
            unstable=lambda names, sign: {},
        ),
        choice=SimpleNamespace(direction=COMPREHENSIVENESS, measures=(), sign="signed"),
        gating=StandingGates(view.encoded, None),
        complete=True,
    )
    return standing.side_limits(known, made, caveats), standing.table_rows(known, made)


def given(*, text: str = TEXT, boards=None, names=("story",), caveats=(), **more) -> LimitsShown:
    """A page of one model, or of as many as there are names."""
    sides, lines = [], []
    for i, name in enumerate(names):
        view = shown(text, names=(), name=name, **more)
        made = boards[i] if boards else known_board(view, i)
        one, rows = told(view, made, name, caveats)
        sides.append((view, one))
        lines += rows
    return LimitsShown(tuple(sides), COMPREHENSIVENESS, standing.TABLE, lines, {"values": "signed"})


def harmless(text: str) -> Page:
    """Take a page apart; nothing but what we write ourselves may be in it."""
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag in TAGS, tag
        assert attributes.keys() <= (MORE.get(tag) or ATTRIBUTES.get(tag, {"class"})), (tag, attributes)
        assert re.fullmatch(STYLES, attributes.get("style", "width:0.00%")), attributes
        assert re.fullmatch("[a-z ]+", attributes.get("class", "x")) and attributes.get("dir", "auto") == "auto"
    assert [attributes["href"] for tag, attributes in page.tags if tag == "link"] == ["data:,"]
    assert page.style == LIMITS_STYLE and text.count("<style>") == text.count("</style>") == 1
    assert "url(" not in LIMITS_STYLE and "@import" not in LIMITS_STYLE
    (policy,) = (
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert (
        policy == POLICY
        and "default-src 'none'" in policy
        and text.index("Content-Security-Policy") < text.index("<style>")
    )
    text.encode("utf-8")
    return page


def marks(page: Page) -> list[str]:
    return [attributes["class"] for tag, attributes in page.tags if tag == "svg" and "style" in attributes]


@pytest.mark.parametrize("attack", [*ATTACKS, " ".join(ATTACKS)])
def test_whatever_a_text_or_name_holds_the_page_only_shows_it(attack):
    text = "Rather good " + attack.replace(" ", "\u00a0")[:40]
    pair = given(
        text=text,
        names=(attack, f"{attack}2"),
        second=attack,
        labels=(attack, f"not {attack}"),
        data=attack,
        example=attack,
        notes=(attack,),
        label_class=0,
        boards=[known_board(shown("Rather good film", names=()), i) for i in (1, 2)],
    )
    page = harmless(limits_page(pair))
    assert page.texts == [shown_text(text), shown_text(attack)]
    # As names of models, in tables, headings and provenance, as class, example and data: as it was typed.
    assert page.said.count(shown_text(attack)) > 12


def test_signs_of_direction_stay_with_the_words_that_hold_them():
    text = limits_page(given(text="one \u202eevil two", names=("\u202emodel", "other"), notes=("Of \u202emodel.",)))
    body = re.sub(r'<bdi class="alone">[^<]*</bdi>|<p class="text" dir="auto">[^<]*</p>', "", text)
    assert "\u202e" not in body and text.count('<bdi class="alone">\u202emodel</bdi>') > 4


def test_the_numbers_are_those_of_the_board():
    page = given(label_class=1, caveats=(Caveat.TRUNCATED,))
    made = page.sides[0][1].board
    said = harmless(limits_page(page)).said
    for one in made.standings:
        for way, arrow in zip(DIRECTIONS, "↑↓"):
            assert (
                f"{arrow} {one.aopc[way]:.3g}".replace("-", "−") in said
                and f"{arrow} {one.naopc[way]:.3g}".replace("-", "−") in said
            )
    for value, name in ((made.limits.lower, "lower"), (made.limits.upper, "upper")):
        assert f"{name} limit {value:.3g} (exact)".replace("-", "−") in said
    result = page.sides[0][1].result
    assert headline(result) in said and result.has(Caveat.TRUNCATED)
    for fact in result.facts:
        assert f"{fact_label(fact)}: {fact_text(fact)}".replace("-", "−") in said.replace("-", "−"), fact.key
    for caveat in result.caveats:
        assert caveat.badge in said and caveat.explanation in said, caveat
    assert f"{made.chance.low:.3g} to {made.chance.high:.3g}".replace("-", "−") in said and "middle 95 % of 2" in said
    for fact in (
        "0123456789abcdef" * 4,
        "ab" * 32,
        "2025-03-05T01:05:06+00:00",
        "float32",
        "leave-one-out (",
        "signed",
        "python",
    ):
        assert fact in said, fact
    for word in ("AOPC", "NAOPC", "comprehensiveness ↑", "sufficiency ↓"):
        assert word in said.rpartition("words mean")[2]


def test_marks_lie_in_the_band_where_their_values_are():
    page = given()
    made, text = page.sides[0][1].board, limits_page(page)
    left, width = map(float, re.search(r'class="band" style="left:([\d.]+)%;width:([\d.]+)%"', text).groups())
    drawn = re.findall(
        r'<svg class="tip (full|open) \w+" viewBox="0 0 16 16" aria-hidden="true"\sstyle="left:([-\d.]+)%', text
    )
    wanted = [
        (shape, left + width * one.naopc[way])
        for one in made.standings
        for way, shape in zip(DIRECTIONS, ("full", "open"))
    ]
    assert [shape for shape, _ in drawn] == [shape for shape, _ in wanted]
    assert [float(at) for _, at in drawn] == pytest.approx([at for _, at in wanted], abs=0.02)
    for at, value in re.findall(r'<span class="tick" style="left:([-\d.]+)%">([^<]+)</span>', text):
        assert float(at) == pytest.approx(
            left
            + width * (float(value.replace("−", "-")) - made.limits.lower) / (made.limits.upper - made.limits.lower),
            abs=0.05,
        )
    # The best of the direction is named, and once.
    closest = re.findall(r"</span><span>([^<]+)<span class=\"mark\">comes closest", text)
    assert closest == [made.best(COMPREHENSIVENESS).measure]


def test_the_orders_are_read_word_by_word_with_what_the_model_says_of_each():
    page = given()
    view, made = page.sides[0][0], page.sides[0][1].board
    lists = re.findall(r'<ol class="order">(.*?)</ol>', limits_page(page), re.DOTALL)
    for walk, items in zip((made.highest, made.lowest), lists, strict=True):
        found = re.findall(r"<small>(\d+)</small><bdi>(.*?)</bdi></span> <span class=\"quiet\">(.*?)</span>", items)
        assert [(int(place), word, value) for place, word, value in found] == [
            (i + 1, view.encoded.features[k].text, f"{walk.values[i + 1]:.3g}") for i, k in enumerate(walk.order)
        ]
        assert "[MASK]" not in items


def test_what_rests_on_rejected_inputs_is_marked_by_a_sign_and_a_shape():
    plain = harmless(limits_page(given()))
    assert (
        not any("cross" in mark for mark in marks(plain)) and "↑ ⚠" not in plain.said and ": unavailable" in plain.said
    )
    view = shown(TEXT, names=())
    text = limits_page(given(boards=[rejecting(known_board(view), 3)]))
    page = harmless(text)
    made = known_board(view)
    assert [mark.split()[1] for mark in marks(page)] == ["cross", "open", "cross", "open", "middle"]
    for one in made.standings:
        assert (
            f"↑ {one.aopc[COMPREHENSIVENESS]:.3g} ⚠".replace("-", "−") in page.said
            and f"↓ {one.aopc[SUFFICIENCY]:.3g} ⚠".replace("-", "−") not in page.said
        )
    assert "⚠ rejected from 4 " in page.said and Caveat.OUT_OF_DISTRIBUTION.explanation in page.said
    assert Caveat.OUT_OF_DISTRIBUTION.explanation not in plain.said
    high, low = re.findall(r'<ol class="order">(.*?)</ol>', text, re.DOTALL)
    assert [bool("⚠" in item and 'class="late"' in item) for item in high.split("</li>")[:-1]] == [
        i >= 2 for i in range(len(made.highest.order))
    ] and "⚠" not in low


def test_where_limits_coincide_naopc_is_a_dash_and_where_they_are_close_a_sentence_warns():
    view = shown(TEXT, names=())
    page = harmless(limits_page(given(boards=[rejecting(known_board(view, flat=True), 1)])))
    assert "— ⚠" not in page.said and "0 ⚠" in page.said
    assert "↑ —" in page.said and "↓ —" in page.said and "nan" not in page.said and "comes closest" not in page.said
    made = known_board(view)
    near = Limits(0.1, 0.12, made.limits.lowest, made.limits.highest, "beam", 5, 77)
    close = given(boards=[replace(made, limits=near, searched="bfloat16")])
    said = harmless(limits_page(close)).said
    for caveat in (Caveat.NARROW_LIMITS, Caveat.LIMITS_SEARCHED):
        assert close.sides[0][1].result.has(caveat) and caveat.explanation in said
        assert caveat.badge not in limits_page(given())
    assert "(beam 5)" in said and "sets scored: 77" in said


def test_two_models_stand_on_one_axis_and_are_ranked_before_and_after_normalising():
    pair = given(names=("story", "other"))
    text = limits_page(pair)
    page, boards = harmless(text), {view.provenance["model"]: one.board for view, one in pair.sides}
    assert page.said.count("this comes from: ") == 2
    # One axis: the same value lies at the same place in both.
    ticks = re.findall(r'<div class="line axis">.*?</div>\n', text, re.DOTALL)
    assert len(ticks) == 2 and ticks[0] == ticks[1]
    tables = re.findall(r"<caption>(\w+) .*?<tbody>(.*?)</tbody>", text, re.DOTALL)
    assert [name for name, _ in tables] == [COMPREHENSIVENESS, SUFFICIENCY]
    for name, body in tables:
        lines = [re.sub("<[^>]*>", "|", line) for line in body.strip().split("</tr>")[:-1]]
        placed = sorted(compare_standings(boards, name).placed, key=lambda one: one.place_normalised)
        for line, one in zip(lines, placed, strict=True):
            cells = [cell for cell in line.split("|") if cell.strip()]
            assert cells[:6] == [
                one.measure,
                one.model,
                *(
                    shape.replace("-", "−")
                    for shape in (f"{one.aopc:.3g}", str(one.place), f"{one.naopc:.3g}", str(one.place_normalised))
                ),
            ]
            up = one.place - one.place_normalised
            assert cells[6] == ("same place" if not up else f"{abs(up)} {'up' if up > 0 else 'down'}")
    flat = [known_board(pair.sides[0][0]), known_board(pair.sides[0][0], flat=True)]
    ranked = "<caption>(?:comprehensiveness|sufficiency) "
    none = limits_page(given(names=("story", "other"), boards=flat))
    assert not re.findall(ranked, none) and "after normalising" in harmless(none).said
    view, told_of = pair.sides[1]
    apart = replace(
        pair,
        sides=(pair.sides[0], (replace(view, labels=tuple(f"LABEL_{i}" for i in range(len(view.labels)))), told_of)),
    )
    assert re.findall(ranked, limits_page(pair)) and not re.findall(ranked, limits_page(apart)), (
        "what explains different classes is not ranked together"
    )


def test_colours_stand_beside_shapes_and_words_in_both_themes():
    assert "scheme: dark" in LIMITS_STYLE and "@media print" in LIMITS_STYLE
    page = harmless(limits_page(given()))
    assert {mark.split()[1] for mark in marks(page)} == {"full", "open", "middle"}
    for name in (
        *NAMES,
        "random order",
        "comprehensiveness (↑ higher is better)",
        "sufficiency (↓ lower is better)",
        "what this model allows",
    ):
        assert name in page.said


_ASKING = "script, img, iframe, a, form, input, object, embed"
_FITS = "() => document.documentElement.scrollWidth <= window.innerWidth"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_saved_page_opens_offline_asks_for_nothing_and_fits_any_window(browser, tmp_path, theme):
    attack = " ".join(ATTACKS)
    boards = [rejecting(known_board(shown("Rather good film", names=()), i), 1) for i in (1, 2)]
    boards[1] = replace(
        boards[1],
        standings=tuple(replace(one, naopc=dict.fromkeys(DIRECTIONS, 0.000921)) for one in boards[1].standings),
    )
    text = limits_page(
        given(
            text=f"Rather good film {attack}",
            names=(attack, "w" * 300),
            labels=(attack, "positive"),
            notes=(attack,),
            boards=boards,
        )
    )
    (tmp_path / "page.html").write_text(text, encoding="utf-8", newline="")
    problems, address = [], (tmp_path / "page.html").as_uri()
    context = browser.new_context(color_scheme=theme, offline=True)
    page = context.new_page()
    page.on("request", lambda request: None if request.url in (address, "data:,") else problems.append(request.url))
    page.on("console", lambda message: problems.append(message.text))
    page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    page.goto(address)
    assert not problems and page.locator(_ASKING).count() == 0
    ground = "() => getComputedStyle(document.body).backgroundColor"
    assert (page.evaluate(ground) == "rgb(255, 255, 255)") == (theme == "light")
    for width in (1280, 380):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(_FITS), width
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    context.close()


@pytest.mark.usefixtures("server")
def test_the_page_saves_what_it_shows():
    small = min(read_bundled("reviews"), key=lambda example: len(find_words(example.text)))
    app = complete(App("pages/aopc_and_naopc.py", example=small.id, beside="sst2-plain"))
    page = harmless(app.download("Page (HTML)"))
    assert page.texts == [small.text] and "from: sst2-plain" in page.said and "Prediction of sst2-plain" in page.said
    table = next(table for table in app.tables if table[0][:2] == ["model", "measure"])
    for row in table:
        for cell in row:
            assert (cell if row is table[0] else cell.replace("-", "−")) in page.said or cell in page.said, cell
    assert len(app.headlines) == 2 and all(words.partition(": ")[2] in page.said for *_, words in app.headlines)
    for value in app.facts.values():
        assert value.replace("-", "−") in page.said, value

"""The app in a real browser: what only a browser can tell (events, themes, addresses, the network)."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from playwright import sync_api as playwright

from core.network.examples import read_bundled

ROOT = Path(__file__).resolve().parent.parent
REVIEWS = {example.id: example for example in read_bundled("reviews")}
IDS = list(REVIEWS)
# Long enough that beam search waits to be asked on any CPU.
LONG = max(REVIEWS.values(), key=lambda example: len(example.text)).id
MIDDLE = min(REVIEWS.values(), key=lambda example: abs(len(example.text.split()) - 20)).id
DEFAULT = ["leave-one-out", "gradient", "input × gradient"]
WAIT = 120_000
# Streamlit asks for these relative to a page's address before it finds its server.
PROBES = re.compile(r"/(?:[\w-]+/)_stcore/(?:health|host-config)")

playwright.expect.set_options(timeout=WAIT)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The app as the README starts it, with an empty store; its address."""
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FAITHSCOPE_", "STREAMLIT_"))}
    environment |= {"FAITHSCOPE_CACHE": str(folder / "cache"), "FAITHSCOPE_DEVICE": "cpu"}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true", "--server.port", str(port)]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        _until_healthy(process, port, folder / "log.txt")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            pytest.fail("the server did not stop when it was told to")
    log = (folder / "log.txt").read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in log, log[-4000:]


def _until_healthy(process, port, log) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/_stcore/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    pytest.fail("the server did not answer in 120 seconds")


def _installed_browsers():
    """Executables to try, the chosen one first; None stands for playwright's own."""
    if chosen := os.environ.get("FAITHSCOPE_BROWSER"):
        yield chosen
        return
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge")
    yield from filter(None, map(shutil.which, names))
    folders = [os.environ.get(name) for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")]
    places = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
              "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
              *(f"{folder}\\{end}" for folder in folders if folder
                for end in ("Google\\Chrome\\Application\\chrome.exe", "Microsoft\\Edge\\Application\\msedge.exe", "Chromium\\Application\\chrome.exe"))]
    yield from (place for place in places if Path(place).is_file())
    yield None


@pytest.fixture(scope="module")
def browser():
    """An installed Chromium, Chrome or Edge, without a window and without traffic of its own."""
    arguments = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--no-default-browser-check",
                 "--disable-dev-shm-usage", "--disable-features=Translate,OptimizationHints,MediaRouter"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with playwright.sync_playwright() as driver:
        tried = []
        for executable in _installed_browsers():
            try:
                opened = driver.chromium.launch(executable_path=executable, args=arguments)
            except playwright.Error as error:
                tried.append(f"{executable or 'the browser of playwright'}: {str(error).strip().splitlines()[0]}")
                continue
            yield opened
            opened.close()
            return
        reason = f"no Chromium, Chrome or Edge starts here ({'; '.join(tried)}); FAITHSCOPE_BROWSER may name one"
        if os.environ.get("FAITHSCOPE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)


class Person:
    """One person at a browser of their own: their page, and all that it asked for and complained of."""

    def __init__(self, browser, server: str, theme: str):
        self.server, self.problems, self.hosts = server, [], set()
        self.context = browser.new_context(color_scheme=theme, viewport={"width": 1280, "height": 900})
        self.context.set_default_timeout(WAIT)
        self.page = self.context.new_page()
        self.context.on("request", lambda request: self._host(request.url))
        self.context.on("response", self._response)
        self.page.on("websocket", lambda socket: self._host(socket.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error on the page: {error}"))
        self.page.on("dialog", self._dialog)

    def open(self, page: str = "", **query):
        self.page.goto(f"{self.server}/{page}{'?' if query else ''}{urlencode(query, doseq=True)}")
        return self.ready()

    def ready(self):
        """Wait for words that are drawn and a script that rests."""
        self.page.wait_for_selector(".row .name", state="attached")
        self.rest()
        return self

    def rest(self):
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        # Where the machine stood still for a moment, even a cheap measure looks dear and waits to be asked.
        for name in DEFAULT:
            ask = self.page.get_by_role("button", name=f"Compute {name}", exact=True)
            if ask.count():
                ask.click()
                playwright.expect(self.page.locator(".row .name", has_text=re.compile(f"^{name}$"))).to_have_count(1)
                self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")

    def follow(self, label: str, question: str) -> None:
        """Go to another page by its link."""
        self.page.get_by_role("link", name=label, exact=True).click()
        playwright.expect(self.page.get_by_role("heading", level=2)).to_have_text(re.compile(question))
        self.ready()

    def until(self, script: str, argument=None):
        """Wait until a JavaScript expression of one argument holds."""
        self.page.wait_for_function(script, arg=argument)
        self.rest()

    @property
    def query(self) -> str:
        return urlsplit(self.page.url).query

    @property
    def rows(self) -> list[str]:
        return self.page.locator(".row .name").all_text_contents()

    def word(self, i: int, row: int = 0):
        return self.page.locator(".row").nth(row).locator(f'.word[data-i="{i}"]')

    @property
    def text(self) -> str:
        """The first row's text as the browser shows it."""
        return self.page.locator(".row .text").first.text_content()

    def shows(self, text: str) -> None:
        """Wait until the words of a text are on the page."""
        playwright.expect(self.page.locator(".row .text").first).to_have_text(text, use_inner_text=False)
        self.rest()

    def chosen(self, label: str) -> str:
        return self.page.get_by_role("combobox", name=label, exact=True).input_value()

    def shows_example(self, identifier: str) -> None:
        box = self.page.get_by_role("combobox", name="Example", exact=True)
        playwright.expect(box).to_have_value(re.compile(f"^{identifier} "), timeout=WAIT)
        self.shows(REVIEWS[identifier].text)

    def type(self, text: str) -> None:
        if not self.page.get_by_role("textbox", name="Text", exact=True).count():
            self.page.get_by_text("Type or edit a text", exact=True).click()
        box = self.page.get_by_role("textbox", name="Text", exact=True)
        box.fill(text)
        self.page.get_by_role("button", name="Explain", exact=True).click()
        self.shows(text)

    def picture(self, name: str) -> None:
        """Keep a picture of the page where FAITHSCOPE_SCREENSHOTS names a folder."""
        if folder := os.environ.get("FAITHSCOPE_SCREENSHOTS"):
            self.page.wait_for_timeout(1500)
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))

    def leave(self) -> None:
        """Close the browser and complain of what should not have been."""
        self.context.close()
        assert not self.problems, "\n".join(self.problems)
        assert self.hosts == {"127.0.0.1"}, self.hosts

    def _host(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob", "about"):
            self.hosts.add(parts.hostname)

    def _tolerated(self, url: str) -> bool:
        return url.startswith(self.server) and PROBES.fullmatch(urlsplit(url).path) is not None

    def _response(self, response) -> None:
        if response.status >= 400 and not (response.status == 404 and self._tolerated(response.url)):
            self.problems.append(f"{response.status} {response.url}")

    def _console(self, message) -> None:
        if message.type == "error" and not self._tolerated(message.location.get("url", "")):
            self.problems.append(f"console: {message.text} {message.location.get('url', '')}")

    def _dialog(self, dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def visit(browser, server):
    """`visit(theme)`: a person with a fresh browser; at the end nothing may have gone wrong."""
    people = []

    def come(theme: str = "light") -> Person:
        people.append(Person(browser, server, theme))
        return people[-1]

    yield come
    for person in people:
        person.leave()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_home_opens_with_an_example_and_legible_words(visit, theme):
    person = visit(theme).open()
    # The cheapest measure stands in where this machine looks slow.
    assert person.rows in (["leave-one-out"], ["gradient"]) and person.text == next(iter(REVIEWS.values())).text
    assert "sst2-fmm" in person.page.locator("[data-testid=stHtml]").first.text_content()
    person.page.wait_for_selector(".js-plotly-plot .scatterlayer path", state="attached")
    legible(person)
    person.picture(f"home-{theme}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_attributions_open_by_a_link_as_the_first_request(visit, theme):
    person = visit(theme).open("attributions", example="s004", unit="token", measures=["attention", "input × gradient"], **{"class": "negative"})
    assert person.rows == ["attention", "input × gradient"]
    assert person.chosen("Example").startswith("s004 ") and person.chosen("Explained class") == "negative"
    assert person.page.get_by_role("radio", name="token").get_attribute("aria-checked") == "true"
    assert person.text == REVIEWS["s004"].text
    assert "negative" in person.page.locator(".legend").text_content()
    for part in ("example=s004", "unit=token", "class=negative", "measures=attention"):
        assert part in person.query
    legible(person)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_attributions_as_the_readme_shows_them(visit, theme):
    person = visit(theme).open("attributions", example="s001")
    assert person.rows == DEFAULT
    legible(person)
    person.picture(f"attributions-{theme}")


def test_a_home_link_restores_its_choice_too(visit):
    person = visit().open("", example="p03b", data="contrast pairs", unit="token", **{"class": "positive"})
    assert person.chosen("Data") == "contrast pairs" and person.chosen("Example").startswith("p03b ") and person.chosen("Explained class") == "positive"


def test_pointing_at_a_word_tells_measure_and_value(visit):
    person = visit().open("attributions", example="s005")
    tip = person.page.locator(".tip")
    assert not tip.is_visible()
    for row, name in enumerate(DEFAULT):
        person.word(2, row).hover()
        playwright.expect(tip).to_be_visible()
        said = tip.text_content()
        assert name in said and re.search(r"\d", said) and person.word(2, row).text_content() in said
        assert said == person.word(2, row).get_attribute("aria-label")
        # The same word stands out in every row.
        assert person.page.locator(".word.same").count() == len(DEFAULT)
    person.page.mouse.move(5, 5)
    playwright.expect(tip).to_be_hidden()


def test_clicking_a_word_compares_the_measures(visit):
    person = visit().open("attributions", example="s005")
    before = person.page.locator("table").count()
    person.word(3, 1).click()
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(len(DEFAULT))
    playwright.expect(person.page.locator("table")).to_have_count(before + 1)
    assert {word.get_attribute("data-i") for word in person.page.locator(".word.chosen").all()} == {"3"}
    assert person.word(3).get_attribute("aria-pressed") == "true"
    table = person.page.locator("table").first.text_content()
    for name in DEFAULT:
        assert name in table
    # Again, and it is let go.
    person.word(3).click()
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(0)
    playwright.expect(person.page.locator("table")).to_have_count(before)
    # On the next example nothing is chosen.
    person.word(1).click()
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(len(DEFAULT))
    person.page.get_by_role("button", name="Next").click()
    person.shows_example("s006")
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(0)


def test_the_keyboard_is_enough(visit):
    person = visit().open("attributions")
    person.page.keyboard.press("n")
    person.shows_example(IDS[1])
    person.page.keyboard.press("n")
    person.shows_example(IDS[2])
    person.page.keyboard.press("p")
    person.shows_example(IDS[1])
    # Arrow keys walk within a row of words; Enter chooses.
    person.word(0, 1).focus()
    for _ in range(3):
        person.page.keyboard.press("ArrowRight")
    person.page.keyboard.press("ArrowLeft")
    playwright.expect(person.word(2, 1)).to_be_focused()
    playwright.expect(person.page.locator(".tip")).to_have_text(person.word(2, 1).get_attribute("aria-label"))
    person.page.keyboard.press("Enter")
    playwright.expect(person.page.locator(".word.chosen")).to_have_count(len(DEFAULT))
    # One stop of the Tab key per row.
    assert person.page.locator('.word[tabindex="0"]').count() == len(DEFAULT)


def test_letters_that_are_typed_do_not_turn_the_page(visit):
    person = visit().open("attributions", example="s005")
    person.page.get_by_text("Type or edit a text", exact=True).click()
    box = person.page.get_by_role("textbox", name="Text", exact=True)
    box.click()
    box.press_sequentially("nnpp")
    assert "nnpp" in box.input_value() and person.chosen("Example").startswith("s005 ")


def test_a_class_button_explains_that_class(visit):
    person = visit().open("attributions", example="s005")
    before = person.page.locator(".row").first.locator(".word").first.get_attribute("aria-label")
    legend = person.page.locator(".legend").text_content()
    other = "negative" if "supports “positive”" in legend else "positive"
    person.page.get_by_role("button", name=re.compile(f"^{other} · ")).click()
    playwright.expect(person.page.locator(".legend")).to_contain_text(f"supports “{other}”")
    person.rest()
    assert person.page.locator(".row").first.locator(".word").first.get_attribute("aria-label") != before
    assert person.chosen("Explained class") == other and f"class={other}" in person.query


def test_a_text_is_shown_as_typed_and_comes_back_after_a_reload(visit):
    typed = "A <img src=x onerror=alert(1)> **bold** $x$ :smile: <b>film</b>,\nnot &amp; bad"
    person = visit().open("attributions")
    person.type(typed)
    assert person.text == typed
    assert person.page.locator(".row img, .row b, .row strong, .row .katex").count() == 0
    assert person.page.locator("img[src='x']").count() == 0
    assert "text=" in person.query and "example=" not in person.query
    person.page.reload()
    person.ready().shows(typed)
    # Another page, and back.
    person.follow("Home", "What is loaded")
    person.shows(typed)
    person.follow("Attributions", "Which words")
    person.shows(typed)
    assert person.rows == DEFAULT
    # Somebody else follows the same link.
    other = visit().open(f"attributions?{person.query}")
    other.shows(typed)


def test_emoji_right_to_left_and_combining_marks_are_shown_as_typed(visit):
    person = visit().open("attributions")
    for typed in ("👩‍👩‍👧 film 🎬", "هذا فيلم رائع", "Z̸̧a̵l̷g̶o café"):
        person.type(typed)
        assert person.text == typed
    assert person.page.locator(".row .text").first.get_attribute("dir") == "auto"


def test_an_empty_text_is_a_sentence_and_a_way_on(visit):
    person = visit().open("attributions")
    person.page.get_by_text("Type or edit a text", exact=True).click()
    person.page.get_by_role("textbox", name="Text", exact=True).fill("   ")
    person.page.get_by_role("button", name="Explain", exact=True).click()
    alert = person.page.get_by_role("alert")
    playwright.expect(alert).to_have_count(1)
    playwright.expect(alert).to_contain_text("text is empty")
    person.rest()
    person.type("Better now.")
    assert person.text == "Better now."


def test_choices_hold_on_every_page(visit):
    person = visit().open("attributions", example="s005")
    person.page.get_by_text("token", exact=True).click()
    person.until("() => location.search.includes('unit=token')")
    person.page.get_by_role("button", name="Next").click()
    person.shows_example("s006")
    person.follow("Home", "What is loaded")
    person.shows_example("s006")
    assert person.page.get_by_role("radio", name="token").get_attribute("aria-checked") == "true"
    assert "example=s006" in person.query and "unit=token" in person.query
    person.page.reload()
    person.ready().shows_example("s006")
    assert person.page.get_by_role("radio", name="token").get_attribute("aria-checked") == "true"


def test_two_people_do_not_mix(visit):
    one, two = visit().open("attributions", example="s007"), visit("dark").open("attributions", example="s008")
    one.page.keyboard.press("n")
    one.shows_example("s008")
    two.page.keyboard.press("n")
    two.shows_example("s009")
    one.type("Only mine.")
    two.page.keyboard.press("n")
    two.shows_example("s010")
    assert one.text == "Only mine." and two.chosen("Data") == "reviews"


def test_dear_work_is_asked_for_and_arrives_while_one_looks_elsewhere(visit):
    person = visit().open("attributions", example=MIDDLE, measures=["gradient", "beam"])
    position = IDS.index(MIDDLE)
    ask = person.page.get_by_role("button", name="Compute beam")
    # On a very fast CPU the work may be cheap enough to be done at once.
    if ask.count():
        assert person.rows == ["gradient"]
        ask.click()
        person.page.keyboard.press("n")
        person.shows_example(IDS[position + 1])
        person.page.keyboard.press("p")
        person.shows_example(MIDDLE)
    playwright.expect(person.page.locator(".row .name")).to_have_text(["gradient", "beam"], timeout=WAIT)
    person.rest()
    playwright.expect(person.page.locator("[data-testid=stProgress]")).to_have_count(0)
    places = person.page.locator(".row").nth(1).locator(".place").all_text_contents()
    assert sorted(map(int, places)) == list(range(1, len(places) + 1))


def test_dear_work_shows_how_far_it_is_and_stops_when_told(visit):
    person = visit().open("attributions", example=LONG, measures=["gradient", "beam"])
    person.page.get_by_role("button", name="Compute beam").click()
    progress = person.page.locator("[data-testid=stProgress]")
    playwright.expect(progress).to_contain_text(re.compile(r"beam: [1-9][\d,]* of at most [\d,]+ forward passes"), timeout=WAIT)
    first = progress.text_content()
    person.page.wait_for_function("before => { const now = document.querySelector('[data-testid=stProgress]'); return now && now.textContent !== before; }", arg=first)
    # Other things go on meanwhile.
    person.page.get_by_role("button", name="Next").click()
    person.shows_example(IDS[(IDS.index(LONG) + 1) % len(IDS)])
    person.page.get_by_role("button", name="Previous").click()
    person.shows_example(LONG)
    person.page.get_by_role("button", name="Cancel").click()
    playwright.expect(person.page.get_by_role("button", name="Compute beam")).to_be_visible()
    playwright.expect(progress).to_have_count(0)
    assert person.rows == ["gradient"] and "ancelled" in person.page.locator("[data-testid=stMain]").text_content()


def test_a_narrow_window_needs_no_sideways_scrolling(visit):
    person = visit()
    person.page.set_viewport_size({"width": 400, "height": 800})
    person.open("attributions", example=LONG)
    assert person.page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert person.page.evaluate("""() => [...document.querySelectorAll('[data-testid=stMain]')].every(n => n.scrollWidth <= n.clientWidth + 1)""")


CONTRAST = """
() => {
  const canvas = document.createElement('canvas'); canvas.width = canvas.height = 1;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  // Any CSS colour (color-mix too) painted over the ground of the page.
  const over = (ground, colour) => {
    pen.globalCompositeOperation = 'copy'; pen.fillStyle = `rgb(${ground.join(',')})`; pen.fillRect(0, 0, 1, 1);
    pen.globalCompositeOperation = 'source-over'; pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const luminance = (rgb) => rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (one, other) => {
    const [dark, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const page = over([255, 255, 255], getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor);
  const found = [];
  const look = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) look(node.shadowRoot);
      if (!node.matches('.word, .detail, .name, .legend span, .legend, td, th, .tip, [data-testid=stHtml] p')) continue;
      if (node.matches('.word.masked') || !node.textContent.trim()) continue;
      const style = getComputedStyle(node);
      const ground = over(page, style.backgroundColor);
      let faint = 1;
      for (let up = node; up; up = up.parentElement) faint *= Number(getComputedStyle(up).opacity);
      const ink = over(ground, style.color).map((v, i) => Math.round(v * faint + ground[i] * (1 - faint)));
      found.push({ text: node.textContent.slice(0, 30), kind: node.className || node.tagName, shaded: style.backgroundColor, ratio: ratio(ink, ground) });
    }
  };
  look(document);
  return found;
}
"""


def legible(person: Person) -> None:
    """Every word, label and cell has a contrast of at least 4.5:1 with its own ground."""
    found = person.page.evaluate(CONTRAST)
    words = [part for part in found if part["kind"].split()[0] == "word"]
    assert words and len({part["shaded"] for part in words}) > 2, "no shaded words were found"
    weak = [part for part in found if part["ratio"] < 4.5]
    assert not weak, json.dumps(weak, indent=1)

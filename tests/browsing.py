"""A person at a real browser: what the tests with a browser share."""

import contextlib
import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from playwright import sync_api as playwright

WAIT = int(os.environ.get("FAITHSCOPE_TEST_WAIT", "300000"))  # milliseconds, for whatever a page is to show
# Measures that every page computes unasked, unless the machine looks slow.
DEFAULT = ["leave-one-out", "gradient", "input × gradient"]
# Streamlit asks for these relative to a page's address before it finds its server.
PROBES = re.compile(r"/(?:[\w-]+/)_stcore/(?:health|host-config)")
# Emoji, of which small vocabularies have few.
UNKNOWN = re.compile("[\U0001f000-\U0001faff]")
# A measure's coloured words, on Attributions and on Home.
ROW = ".row, .glance"
UNIT = re.compile("^(word|token|clause|sentence)$")
SCRIPTS = Path(__file__).parent / "scripts"
RESTS = "[data-testid=stApp][data-test-script-state=notRunning]"
FITS = """() => document.documentElement.scrollWidth <= window.innerWidth
  && [...document.querySelectorAll('[data-testid=stMain]')].every(n => n.scrollWidth <= n.clientWidth + 1)"""

playwright.expect.set_options(timeout=WAIT)


def script(name: str) -> str:
    """A function in JavaScript that tests have a page run, from its file."""
    return (SCRIPTS / f"{name}.js").read_text(encoding="utf-8").strip().removesuffix(";")


def _installed_browsers():
    """Executables to try, the chosen one first; None stands for playwright's own."""
    if chosen := os.environ.get("FAITHSCOPE_BROWSER"):
        yield chosen
        return
    # The first has no window that somebody could see: the rest draw one that nobody sees, a fifth of the work.
    names = (
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
        "microsoft-edge",
        "msedge",
    )
    yield from filter(None, map(shutil.which, names))
    folders = [os.environ.get(name) for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")]
    places = [
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
        *(
            f"{folder}\\{end}"
            for folder in folders
            if folder
            for end in (
                "Google\\Chrome\\Application\\chrome.exe",
                "Microsoft\\Edge\\Application\\msedge.exe",
                "Chromium\\Application\\chrome.exe",
            )
        ),
    ]
    yield from (place for place in places if Path(place).is_file())
    yield None


@contextlib.contextmanager
def installed_browser():
    """An installed Chromium, Chrome or Edge, without a window and without traffic of its own."""
    arguments = [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-dev-shm-usage",
        # Tabs of one window share a process, and with it scripts that are compiled.
        "--process-per-site",
        "--disable-features=Translate,OptimizationHints,MediaRouter",
    ]
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
        raise LookupError(
            f"no Chromium, Chrome or Edge starts here ({'; '.join(tried)}); FAITHSCOPE_BROWSER may name one"
        )


def own_context(browser):
    """A browser of one's own: nothing of another's cookies, storage and cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(WAIT)
    return context


class Person:
    """One person at a browser: their tab, and all that it asked for and complained of.

    context: whose browser it is; one of their own, closed when they leave, unless it is given. A window and scripts that
    were never read before cost more than what most tests look at.
    """

    def __init__(self, browser, server: str, theme: str = "light", context=None):
        self.server, self.problems, self.hosts = server, [], set()
        self._owned = own_context(browser) if context is None else None
        self.page = (context or self._owned).new_page()
        self.page.emulate_media(color_scheme=theme)
        self.page.on("request", lambda request: self._host(request.url))
        self.page.on("response", self._response)
        self.page.on("websocket", lambda socket: self._host(socket.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error on the page: {error}"))
        self.page.on("dialog", self._dialog)

    def open(self, page: str = "", /, **query):
        self.page.goto(f"{self.server}/{page}{'?' if query else ''}{urlencode(query, doseq=True)}")
        return self.ready()

    def ready(self):
        """Wait for words, a table or a stepper that are drawn and a script that rests."""
        self.page.wait_for_selector(f":is({ROW}) .name, .browser tbody tr, .player .pane", state="attached")
        self.rest()
        return self

    def rest(self):
        self.page.wait_for_selector(RESTS)
        # Where the machine stood still for a moment, even a cheap measure looks dear and waits to be asked.
        for name in DEFAULT:
            ask = self.page.get_by_role("button", name=f"Compute {name}", exact=True)
            if ask.count():
                ask.click()
                playwright.expect(self.page.locator(".row .name", has_text=re.compile(f"^{name}$"))).to_have_count(1)
                self.page.wait_for_selector(RESTS)

    def idle(self):
        """Wait until nothing is computed any more, and the script rests."""
        self.rest()
        for bar in (
            self.page.get_by_role("button", name="Cancel"),
            self.page.locator("[data-testid=stProgress]"),
            self.page.get_by_text(re.compile(r"are being computed …$")),
        ):
            playwright.expect(bar).to_have_count(0, timeout=300_000)
        self.rest()

    def computed(self, but: str = "nothing"):
        """Have all computed that waits to be asked for, except what begins so; to a machine that stood still for a
        moment even cheap work looks dear.
        """
        asks = self.page.get_by_role("button", name=re.compile(f"^(Compute|Go on with) (?!{but})"))
        self.idle()
        # What was asked for may bring more to ask for, each at most once.
        for _ in range(6):
            if not asks.count():
                break
            # What is offered may begin by itself meanwhile; a server that is slow to answer offers it still.
            with contextlib.suppress(playwright.TimeoutError, AssertionError):
                named = asks.first.inner_text(timeout=10_000)
                asks.first.press("Enter", timeout=10_000)
                playwright.expect(asks.filter(has_text=named)).to_have_count(0, timeout=30_000)
            self.idle()
        return self

    def turn(self, theme: str) -> None:
        """Turn the light or the dark theme on; the page follows."""
        self.page.emulate_media(color_scheme=theme)
        self.page.wait_for_function(script("turned"), arg=theme)
        self.rest()

    def narrow(self) -> None:
        """Make the window as narrow as a telephone's: the page fits it."""
        self.page.set_viewport_size({"width": 400, "height": 800})
        self.rest()
        self.page.wait_for_function(FITS, timeout=10_000)

    def follow(self, label: str, question: str) -> None:
        """Go to another page by its link in the sidebar."""
        self.page.get_by_test_id("stSidebar").get_by_role("link", name=label, exact=True).click()
        playwright.expect(self.page.get_by_role("heading", level=1)).to_have_text(re.compile(question))
        self.ready()

    def until(self, script: str, argument=None):
        """Wait until a JavaScript expression of one argument holds."""
        self.page.wait_for_function(script, arg=argument)
        self.rest()

    def unfold(self):
        """Unfold class, unit and what is seldom chosen, above the picture of an example."""
        self.press("More settings")
        # What is drawn only now shows what is chosen all the same.
        chosen = self.page.get_by_role("radio", name=UNIT, checked=True)
        playwright.expect(chosen).to_be_visible()
        return self

    def press(self, label: str) -> None:
        """Press a button of the page, by the keyboard: what moves between the halves of a click would swallow it."""
        self.page.get_by_role("button", name=label, exact=True).press("Enter")

    def open_tab(self, name: str) -> None:
        """Open a part behind a tab, as `press` does, once nothing draws the page anew."""
        self.idle()
        tab = self.page.get_by_role("tab", name=name)
        tab.press("Enter")
        playwright.expect(tab).to_have_attribute("aria-selected", "true")

    @property
    def query(self) -> str:
        return urlsplit(self.page.url).query

    @property
    def rows(self) -> list[str]:
        return self.page.locator(f":is({ROW}) .name").all_text_contents()

    @property
    def outcome(self) -> str | None:
        """The outcome of the page's first headline."""
        return self.page.locator("p.headline").first.get_attribute("data-outcome")

    def word(self, i: int, row: int = 0):
        return self.page.locator(".row").nth(row).locator(f'.word[data-i="{i}"]')

    @property
    def text(self) -> str:
        """The first row's text as the browser shows it."""
        return self.page.locator(f":is({ROW}) .text").first.text_content()

    @property
    def said(self) -> str:
        """Everything that is written on the page, with a percentage as it is written elsewhere."""
        return self.page.locator("[data-testid=stMain]").text_content().replace("\N{NO-BREAK SPACE}%", " %")

    def shows(self, text: str) -> None:
        """Wait until the words of a text are on the page."""
        # What the tokenizer does not know bears a sign.
        told = re.compile("(UNK)?".join(map(re.escape, text)) + r"(UNK)?\s*$") if UNKNOWN.search(text) else text
        playwright.expect(self.page.locator(f":is({ROW}) .text").first).to_have_text(told, use_inner_text=False)
        self.rest()

    def chosen(self, label: str) -> str:
        return self.page.get_by_role("combobox", name=label, exact=True).input_value()

    def has_chosen(self, identifier: str) -> None:
        """Wait until the sidebar has an example."""
        playwright.expect(self.page.get_by_role("combobox", name="Example", exact=True)).to_have_value(
            re.compile(f"^{re.escape(identifier)} ")
        )
        self.rest()

    def type(self, text: str) -> None:
        if not self.page.get_by_role("textbox", name="Text", exact=True).count():
            self.page.get_by_text("Type or edit a text", exact=True).click()
        box = self.page.get_by_role("textbox", name="Text", exact=True)
        box.fill(text)
        self.press("Explain")
        self.shows(text)

    def saved(self, button) -> tuple[str, bytes]:
        """Press a button (its name, or the element); name and content of the file that arrives."""
        element = self.page.get_by_role("button", name=button, exact=True) if isinstance(button, str) else button
        with self.page.expect_download() as download:
            element.click()
        return download.value.suggested_filename, Path(download.value.path()).read_bytes()

    def picture(self, name: str) -> None:
        """Keep a picture of the page where FAITHSCOPE_SCREENSHOTS names a folder."""
        if folder := os.environ.get("FAITHSCOPE_SCREENSHOTS"):
            self.page.wait_for_timeout(1500)
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"))

    def leave(self) -> None:
        """Close the tab and complain of what should not have been."""
        # What nobody waits for any more would keep the others waiting.
        cancels = self.page.get_by_role("button", name="Cancel", exact=True)
        for _ in range(cancels.count()):
            # It is gone once its work is done, which may be now.
            with contextlib.suppress(playwright.TimeoutError):
                cancels.first.press("Enter", timeout=1000)
        # Who comes next at this browser finds nothing of this visit.
        self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.close()
        assert not self.problems, "\n".join(self.problems)
        assert self.hosts == {"127.0.0.1"}, self.hosts

    def close(self) -> None:
        """Close the tab, and the browser where it is one's own."""
        self.page.close()
        if self._owned is not None:
            self._owned.close()

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


def contrasts(person: Person, kinds: str) -> list[dict]:
    """Text, kind, ground and contrast of every element that matches a CSS selector; none may be weaker than 4.5:1."""
    found = person.page.evaluate(script("contrast"), kinds)
    weak = [part for part in found if part["ratio"] < 4.5]
    assert not weak, json.dumps(weak, indent=1)
    return found

"""`python -m core report`: what each kind holds, where it comes from, and that nothing half-written is left."""

import html
import json
import re
import shlex

import pytest

from core.commands import explain as explaining
from core.commands import reporting
from core.commands.command_line import main
from core.data.sources import read_data
from core.storage.library import Library
from core.validity.marks import with_sign
from core.wording import number
from tests.hostile import lines
from tests.saved_page import harmless

ROWS = [
    {"id": "plain", "text": "the boat did not leave", "label": "a"},
    {"id": "markup", "text": "<script>alert(1)</script> the <b>boat</b>", "label": "b"},
    {"id": "right-to-left", "text": "هذا \u202eevil\u202c (رائع)", "label": "a"},
]
MEASURES = ("--measures", "leave-one-out", "gradient")
ACTIVE = "script, img, iframe, object, embed, form, a"
FITS = "() => document.documentElement.scrollWidth <= window.innerWidth"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_bytes(lines(*ROWS))
    return path


@pytest.fixture
def report(model, data, tmp_path):
    """`report(…)`: the page that the command writes."""

    def run(*asked, out="report.html"):
        out = tmp_path / out
        assert main(["report", "--model", "tiny", "--data", str(data), *MEASURES, "--out", str(out), *asked]) == 0
        return out.read_text(encoding="utf-8")

    return run


def runs_nothing(page: str) -> None:
    """A page is harmless, and its pictures hold shapes alone."""
    pictures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    harmless(re.sub(r"<figure.*?</figure>", "", page, flags=re.DOTALL))
    allowed = set("figure svg line polyline polygon rect path text figcaption span bdi".split())
    assert set(re.findall(r"<([a-zA-Z]+)", "".join(pictures))) <= allowed
    assert not re.search(r"<[^>]*\s(?:on\w+|href|src|style)=", "".join(pictures))


def undated(page: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "", page)


def command_of(page: str) -> list[str]:
    found = re.search(r"<dt>made by</dt><dd><bdi[^>]*>(.*?)</bdi>", page)
    return shlex.split(html.unescape(found[1]))


@pytest.mark.parametrize("name", [one["id"] for one in ROWS])
def test_a_report_of_an_example_runs_nothing_and_its_command_makes_it_again(report, name):
    page = report("--example", name, "--values", "absolute", "--unit", "token")
    runs_nothing(page)
    words = command_of(page)
    assert (
        words[:4] == ["python", "-m", "core", "report"]
        and f"--example={name}" in words
        and "--values=absolute" in words
    )
    assert main(words[3:]) == 0
    (out,) = (one.removeprefix("--out=") for one in words if one.startswith("--out="))
    with open(out, encoding="utf-8") as again:
        assert undated(again.read()) == undated(page)


def test_its_numbers_are_those_of_explain(report, data, tmp_path, model):
    page, out = report("--example", "plain"), tmp_path / "found.json"
    asked = ["--what", "attributions", "verdicts", "limits", "sets", "steps", "--out", str(out)]
    assert main(["explain", "--model", "tiny", "--data", str(data), "--example", "plain", *MEASURES, *asked]) == 0
    found, cells = json.loads(out.read_text(encoding="utf-8")), re.sub(r"<[^>]+>", "", page)
    for one in found["limits"]["measures"]:
        assert number(one["comprehensiveness"]) in cells and number(one["comprehensiveness NAOPC"]) in cells
    for one in found["steps"]:
        assert with_sign(number(one["value"]), False) in cells and one["predicted"] in cells
    for fact in ("weights_sha256", "precision", "data_sha256", "text_sha256"):
        assert found[fact] in page
    assert "<svg" in page and all(html.escape(one["words"]) in cells for one in found["steps"])


def test_pinned_examples_come_in_the_order_of_pinning_with_their_notes(report, data, tmp_path, capsys):
    assert main(["report", "--model", "tiny", "--data", str(data), "--pinned", "--out", str(tmp_path / "no.html")]) == 1
    assert "pinned" in capsys.readouterr().err and not (tmp_path / "no.html").exists()
    library, digest = Library(tmp_path / "cache"), read_data(data, lambda _: None)[2].digest
    library.pin(digest, "markup", "<i>odd</i>")
    library.pin(digest, "plain", "")
    page = report("--pinned")
    runs_nothing(page)
    assert page.index(">markup<") < page.index(">plain<") and "&lt;i&gt;odd" in page
    assert ">right-to-left<" not in page and "leave-one-out" in page


def test_answers_over_data_are_those_named_or_those_that_are_fast(report, monkeypatch):
    named = report("--what", "verdicts")
    runs_nothing(named)
    assert "verdicts" in named and "<svg" in named
    monkeypatch.setattr(reporting, "FAST_SECONDS", -1.0)
    page = report()
    assert "Left out" in page and "forward pass" in page


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (("--example", "plane"), "did you mean 'plain'"),
        (("--example", "plain", "--pinned"), "choose one"),
        (("--example", "plain", "--out", "report.pdf"), ".html"),
        (("--what", "verdicts", "--sample", "0"), "at least 1"),
        (("--example", "plain", "--out", "/proc/none/report.html"), "/proc"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(model, data, tmp_path, capsys, asked, meant):
    assert main(["report", "--model", "tiny", "--data", str(data), "--out", str(tmp_path / "r.html"), *asked]) == 1
    assert meant in capsys.readouterr().err.strip().splitlines()[-1] and not (tmp_path / "r.html").exists()


def test_a_model_whose_files_are_gone_is_one_sentence(data, tmp_path, capsys):
    asked = ["--model", str(tmp_path / "gone"), "--data", str(data), "--example", "plain"]
    assert main(["report", *asked, "--out", str(tmp_path / "r.html")]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_an_interrupted_report_leaves_the_one_before(report, data, tmp_path, monkeypatch):
    before = report("--example", "plain")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(explaining, "tell", stop)
    out = tmp_path / "report.html"
    assert main(["report", "--model", "tiny", "--data", str(data), "--example", "plain", "--out", str(out)]) == 130
    assert out.read_text(encoding="utf-8") == before and not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("asked", [("--example", "markup"), ("--what", "verdicts")])
def test_a_report_opens_with_the_network_off_and_asks_nobody(report, browser, tmp_path, asked):
    report(*asked)
    address, problems = (tmp_path / "report.html").as_uri(), []
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.on("request", lambda request: None if request.url in (address, "data:,") else problems.append(request.url))
    for event in ("console", "pageerror", "dialog"):
        page.on(event, lambda *found: problems.append(str(found)))
    page.goto(address)
    page.mouse.move(200, 200)
    assert page.locator(ACTIVE).count() == 0
    assert page.locator("svg").first.is_visible() and page.locator("h1").is_visible()
    assert page.evaluate(FITS)
    context.close()
    assert not problems

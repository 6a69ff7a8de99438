"""What leaves the app as a file: cells, names, provenance, and the page that stands for itself."""

import csv
import hashlib
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from core import settings
from core.explanation.rows import agreement, value_text
from core.figures.palette import OPPOSES, STRONGEST, SUPPORTS, blend
from core.measures.catalogue import measure
from core.reports.attribution_page import STYLE, attribution_page
from core.reports.exports import (
    COLUMNS,
    CONSTANT,
    Beside,
    Shown,
    attribution_table,
    csv_text,
    describe,
    identity,
    model_identity,
    picture_line,
    provenance,
    restored,
    safe_cell,
    visible,
)
from core.reports.page import shade
from core.results.caveats import Caveat
from core.results.result import Result
from core.results.verdicts import verdicts_result, words_result
from core.results.versions import VersionsOutcome
from core.terms import PER_UNIT, TERMS
from core.texts.rendering import headline
from core.verdicts.deciding import Word
from core.wording import amount, safe_name
from tests.colours import contrast
from tests.saved_page import ANY, ATTACKS, harmless, shown_text
from tests.shown import NOW, encoded, model, rows, shown
from tests.verdicts.table_explainer import TableExplainer
from tests.verdicts.test_deciding import additive, decided, signed

# Cells


@pytest.mark.parametrize(
    "text, cell",
    [
        ("good", "good"),
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\nx", "'\nx"),
        ("  =1", "'  =1"),
        ("\ufeff=1", "'\ufeff=1"),
        ('"=1', "'\"=1"),
        ("“=1”", "'“=1”"),
        ("＝1", "'＝1"),
        ("＋1", "'＋1"),
        ("－1", "'－1"),
        ("＠x", "'＠x"),
        ("\u00a0\u200b-1", "'\u00a0\u200b-1"),
        ("one\n=2", "one\n'=2"),
        ("one\r\n=2", "one\r\n'=2"),
        ("a\u2028@b", "a\u2028'@b"),
        ("a;=b", "a;'=b"),
        ('a; "=b', "a;' \"=b"),
        ("a\t=b", "a\t'=b"),
        ("'s", "''s"),
        ("don't", "don't"),
        ("a=b, -c", "a=b, -c"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("e-mail", "e-mail"),
        ("−1", "−1"),
        ("", ""),
        ("=\0", "'=␀"),
        ("\0=1", "␀=1"),
        ("\x1bx\x7f", "␛x␡"),
        ("a\ud800b", "a\ufffdb"),
        ("\x85\ufffe", "\ufffd\ufffd"),
        ("=cmd|'/C calc'!A0", "'=cmd|'/C calc'!A0"),
        ("-", "'-"),
        ("--", "'--"),
        ("[MASK]", "[MASK]"),
    ],
)
def test_a_text_is_never_a_formula(text, cell):
    assert safe_cell(text) == cell and restored(cell) == visible(text)


@given(ANY)
@example("''=''\n'")
def test_a_cell_gives_its_text_back(text):
    assert restored(safe_cell(text)) == visible(text)
    safe_cell(text).encode("utf-8")


@given(some.lists(some.lists(ANY, min_size=2, max_size=3), max_size=4))
def test_a_table_comes_back_and_no_program_finds_a_formula(table):
    text = csv_text(["first", "second"], [["x", *row] for row in table]).removeprefix("\ufeff")
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert [[restored(cell) for cell in row[1:]] for row in read[1:]] == [
        [visible(cell) for cell in row] for row in table
    ]
    assert text.endswith("\r\n") and text.encode("utf-8").decode("utf-8") == text
    # However the lines are cut, by programs that know quotes and by those that do not.
    cells = [
        cell
        for separator in ",;\t"
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        for cell in row
    ]
    cells += [cell for line in re.split("[\r\n\u2028\u2029]", text) for cell in re.split("[;\t]", line)]
    for cell in cells:
        # A quote that ends a cell stands before the comma of the next.
        assert not re.match('[\\s\ufeff\u200b"“”‘’]*[=+\\-@＝＋－＠]', cell), cell


def test_numbers_stay_numbers_and_what_is_none_is_empty():
    row = [
        -1.5,
        -2,
        0.1,
        1e-9,
        float("nan"),
        np.float32(-0.5),
        np.float64("nan"),
        np.int64(-7),
        None,
        True,
        np.bool_(False),
        "",
        "-1.5",
    ]
    assert (
        csv_text([str(i) for i in range(len(row))], [row]).split("\r\n")[1]
        == "-1.5,-2,0.1,1e-09,,-0.5,,-7,,true,false,,'-1.5"
    )
    assert float(csv_text(["x"], [[1 / 3]]).split("\r\n")[1]) == 1 / 3


def test_quotes_commas_and_lines_are_quoted_as_rfc_4180_says():
    assert (
        csv_text(["=a", 'b"c'], [["x,y", "one\r\ntwo"], ["plain", " kept "]])
        == '\ufeff\'=a,"b""c"\r\n"x,y","one\r\ntwo"\r\nplain, kept \r\n'
    )


def test_a_long_text_is_made_safe_at_once():
    for text in ("\n;" * 200_000, " " * 400_000, ';"' * 200_000 + "=", "'" * 400_000):
        assert restored(safe_cell(text)) == text


# Names


@pytest.mark.parametrize(
    "parts, suffix, name",
    [
        (["attributions", "s001"], "csv", "attributions-s001.csv"),
        (["../../etc/passwd"], ".csv", "etc-passwd.csv"),
        (["C:\\x", "a/b\0c"], "", "C-x-a-b-c"),
        (["con"], "csv", "con_.csv"),
        (["LPT1"], "", "LPT1_"),
        (["nul", "x"], "", "nul-x"),
        (["café", "naïve"], "svg", "cafe-naive.svg"),
        (["日本"], "html", "faithscope.html"),
        ([], "", "faithscope"),
        (["a.b.exe"], "csv", "a-b-exe.csv"),
        (["-rf", "--x--"], "", "rf-x"),
        (["a" * 200, "b"], "csv", "a" * 93 + "-b.csv"),
        (
            ["steps", "org/" + "n" * 60 + "-fmm", "org/" + "n" * 60 + "-plain"],
            "",
            f"steps-org-{'n' * 38}-fmm-org-{'n' * 36}-plain",
        ),
        ([" . "], "", "faithscope"),
    ],
)
def test_a_file_name_is_plain(parts, suffix, name):
    assert safe_name(parts, suffix) == name


@given(some.lists(ANY, max_size=5), ANY)
def test_a_file_name_is_always_one_that_every_system_takes(parts, suffix):
    name = safe_name(parts, suffix)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9]+)?", name) and len(name) <= 100
    assert not re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name)


# The table and where it comes from


def test_the_table_has_a_line_per_measure_and_word_and_says_where_it_comes_from():
    view = shown(
        "A [MASK] =film", names=("leave-one-out", "beam"), scores={"leave-one-out": [-0.25, 0, 2], "beam": [1, 0, 2]}
    )
    header, lines = attribution_table(view)
    assert (
        header == COLUMNS + CONSTANT
        and all(len(line) == len(header) for line in lines)
        and len(set(header)) == len(header)
    )
    assert [line[:11] for line in lines] == [
        ["s001", 1, "A", 0, 1, False, "leave-one-out", "signed", -0.25, "logits", 2],
        ["s001", 2, "[MASK]", 2, 8, True, "leave-one-out", "signed", None, "logits", None],
        ["s001", 3, "=film", 9, 14, False, "leave-one-out", "signed", 2.0, "logits", 1],
        ["s001", 1, "A", 0, 1, False, "beam", "signed", None, "place in the order", 2],
        ["s001", 2, "[MASK]", 2, 8, True, "beam", "signed", None, "place in the order", None],
        ["s001", 3, "=film", 9, 14, False, "beam", "signed", None, "place in the order", 1],
    ]
    for line in lines:
        assert line[2] == view.encoded.text[line[3] : line[4]]
    known = dict(zip(header, lines[0]))
    assert (
        known["model"] == "story"
        and known["weights_sha256"] == "0123456789abcdef" * 4
        and known["data_sha256"] == "ab" * 32
    )
    assert (
        known["text_sha256"] == hashlib.sha256(b"A [MASK] =film").hexdigest()
        and known["class"] == "positive"
        and known["feature_unit"] == "word"
    )
    assert known["date"] == "2025-03-05T01:05:06+00:00" and known["measure_version"] == measure("leave-one-out").version
    assert "python 3." in known["software"] and "numpy " in known["software"]
    project = (settings.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    written = re.search(r'^version = "(.+)"', project, flags=re.MULTILINE)[1]
    assert f"faithscope {written}" in known["software"].split(", ")
    assert "'=film" in csv_text(header, lines)


def two_versions(first="A dull film.", second="A fine film.", **more) -> tuple[Shown, Beside]:
    """An edit, whose largest value is half of the original's, and its original."""
    was = shown(first, example="original", names=("leave-one-out",), scores={"leave-one-out": [0.2, 1.0, -0.4, 0]})
    now = shown(second, example="own", names=("leave-one-out",), scores={"leave-one-out": [0.1, 0.5, -0.25, 0]})
    return now, Beside(("edit", "original"), was, False, **more)


def test_both_versions_of_a_text_are_in_the_table():
    now, beside = two_versions()
    header, lines = attribution_table(now, beside)
    assert header == ["version", *COLUMNS, *CONSTANT]
    told = [dict(zip(header, line)) for line in lines]
    assert [(one["version"], one["word"], one["value"]) for one in told] == [
        *(("original", word, value) for word, value in zip(("A", "dull", "film", "."), (0.2, 1.0, -0.4, 0))),
        *(("edit", word, value) for word, value in zip(("A", "fine", "film", "."), (0.1, 0.5, -0.25, 0))),
    ]
    assert len({one["text_sha256"] for one in told}) == 2
    assert "version" not in attribution_table(now)[0]


def test_both_versions_of_a_text_are_on_the_saved_page_on_one_scale():
    result = Result.of(VersionsOutcome.CHANGES, label="negative", after="positive")
    now, beside = two_versions(result=result, tables=((["", "a", "b"], [["p", "1", "2"]]),))
    page = harmless(attribution_page(now, beside=beside))
    assert headline(result) in page.said and page.said.count("All values: ") == 2
    assert page.texts[1:3] == ["A dull film.", "A fine film."]
    words = [given for tag, given in page.tags if tag == "span" and "word" in given.get("class", "").split()]
    changed = [given for given in words if "changed" in given["class"].split()]
    assert [given["title"].partition(":")[0] for given in changed] == ["dull", "fine"]
    # The edit's largest value is half as large, so half as strong beside the original; by itself it is the strongest.
    strong, half = (given["style"] for given in changed)
    alone = next(given["style"] for given in words if given["title"].startswith("fine"))
    assert strong == alone == f"background:{shade(1.0)}" and half == f"background:{shade(0.5)}"


@pytest.mark.parametrize("attack", ATTACKS)
def test_whatever_a_version_holds_the_page_only_shows_it(attack):
    result = Result.of(VersionsOutcome.CHANGES, label=attack, after=attack)
    now, beside = two_versions(result=result, tables=(([attack, "a"], [[attack, attack]]),))
    text = f"{attack} film"
    beside = replace(beside, names=(attack, attack), other=shown(text, names=("leave-one-out",)))
    harmless(attribution_page(now, beside=beside))


def test_a_measure_of_places_gives_no_values():
    _header, lines = attribution_table(shown("a b c", names=("beam",), scores={"beam": [1, 3, 2]}))
    assert [(line[8], line[10]) for line in lines] == [(None, 3), (None, 1), (None, 2)]


def test_provenance_names_everything_a_result_depends_on():
    of, subject = encoded("x y", "zweite \ud800"), model()
    what = shown("x y").example
    facts = provenance(subject, of, what, "reviews", "ab" * 32, 0, NOW)
    assert (
        facts["date"] == "2025-03-05T01:05:06+00:00"
        and facts["class"] == "negative"
        and facts["device"] == "cpu"
        and facts["precision"] == "float32"
    )
    assert facts["second_text_sha256"] == hashlib.sha256("zweite \ud800".encode("utf-8", "surrogatepass")).hexdigest()
    assert {"python", "numpy"} <= facts.keys() and all(isinstance(value, str) for value in facts.values())
    assert (
        facts.items() >= identity(subject, of, what, "reviews", "ab" * 32, 0).items() >= model_identity(subject).items()
    )
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", provenance(subject, of, what, "reviews", "", 0)["date"]
    )


def test_the_line_under_a_picture_is_short_and_exact():
    of, subject = encoded("x y"), model()
    text = hashlib.sha256(b"x y").hexdigest()[:12]
    line = picture_line(identity(subject, of, shown("x y").example, "reviews", "ab" * 32, 1))
    named = "story (weights 0123456789ab…, float32)"
    assert line.split(" · ") == [named, "class positive", "reviews", "s001", f"text {text}…", "by word", "Faithscope"]
    assert " · own text · text " in picture_line(identity(subject, of, shown("x y").example, "own text", "", 1))
    assert picture_line(model_identity(subject)).split(" · ") == [named, "Faithscope"]


def test_the_line_under_a_picture_of_two_models_names_both_and_each_class_that_differs():
    of, example = encoded("x y"), shown("x y").example
    one, other = model(), model("twin", ("no", "yes"))
    facts = [identity(each, of, example, "reviews", "ab" * 32, 1) for each in (one, other)]
    line = picture_line(*facts)
    both = " and ".join(f"{name} (weights 0123456789ab…, float32)" for name in ("story", "twin"))
    parts = line.split(" · ")
    assert parts[0] == both and [part.split()[1::2] for part in parts[1:3]] == [["positive", "story"], ["yes", "twin"]]
    assert parts[3:5] == ["reviews", "s001"] and parts[5].startswith("text ")
    assert picture_line(*facts[:1] * 2).count("class positive") == 1


def test_a_row_is_described_by_its_direction_and_size():
    signed, positive, rank, bare = rows(
        encoded("a b"), ("leave-one-out", "gradient", "beam", "random"), {"leave-one-out": [-2, 1], "gradient": [1, 3]}
    )
    described = [describe(row).split(" · ") for row in (signed, positive, rank, bare)]
    assert [one[0] for one in described] == ["signed", "L2", "1 = masked first", "random"]
    assert [one[-1] for one in described[:2]] == ["largest 2 logits", f"largest 3 {positive.unit}"]
    assert described[3][-1] == "largest 1" and described[3][1] == described[1][1] != described[0][1]


def test_amounts_are_words():
    told = [amount(count, noun) for count, noun in ((1, "text"), (0, "text"), (1200, "text"), (1, "pass"), (2, "pass"))]
    assert told == ["1 text", "0 texts", "1,200 texts", "1 pass", "2 passes"]


# The page


@pytest.mark.parametrize("attack", [*ATTACKS, " ".join(ATTACKS)])
def test_whatever_a_text_or_name_holds_the_page_only_shows_it(attack):
    view = shown(
        f"{attack} and more words",
        second=attack,
        labels=(attack, f"not {attack}"),
        name=attack,
        data=attack,
        example=attack,
        result=words_result({attack: Word.BETTER, "gradient": Word.WORSE}),
        notes=(attack, attack),
        label_class=0,
    )
    page = harmless(attribution_page(view))
    texts = [shown_text(f"{attack} and more words")] * 3 + [shown_text(attack)]
    assert page.texts == texts
    # As name of the model, in both notes, as the class: as it was typed.
    assert page.said.count(shown_text(attack)) > 8


@given(ANY.filter(lambda text: encoded(text).features))
def test_any_text_is_shown_as_it_is(text):
    view = shown(text, names=("leave-one-out",))
    page = harmless(attribution_page(view))
    last = view.encoded.features[-1].end
    assert page.texts == [shown_text(text[:last])] or "\r" in text
    words = [attributes for tag, attributes in page.tags if "word" in attributes.get("class", "").split()]
    assert len(words) == view.encoded.F and all("leave-one-out" in word["title"] for word in words)


def test_the_page_says_what_was_predicted_and_from_what():
    view = shown(
        "A good [MASK] film",
        label_class=0,
        result=words_result({"leave-one-out": Word.BETTER, "gradient": Word.NO_BETTER}),
        notes=("The end-of-sequence token stands in for the mask token.",),
        scores={"leave-one-out": [-0.5, 1, 0, 0.25], "gradient": [1, 4, 0, 2], "beam": [1, 3, 0, 2]},
    )
    page = harmless(attribution_page(view))
    for said in (
        headline(words_result({"leave-one-out": Word.BETTER})),
        "The model predicts positive (probability 0.75). That is wrong: the label is negative.",
        "end-of-sequence token stands in",
        "opposes “positive”",
        "supports “positive”",
        "matters most (no sign)",
        "masked first",
        "masked in the text",
        "0123456789abcdef" * 4,
        "ab" * 32,
        hashlib.sha256(b"A good [MASK] film").hexdigest(),
        "2025-03-05T01:05:06+00:00",
        "float32",
        "FMM App. E",
        "explained class",
        "Overlap of the top 3",
    ):
        assert said in page.said, said
    tau, _ = agreement(list(view.rows), 3)
    assert f"{tau[0, 1]:.2f}".replace("-", "−") in page.said
    for row in view.rows:
        for i in range(view.encoded.F):
            assert value_text(row, i).replace("-", "−") in page.said
    assert "Explained here" not in page.said and "more words" not in page.said


def test_a_saved_page_says_what_a_gradient_is_counted_in_and_whom_the_test_favours():
    weights = np.array([0.3, 0.2, 0.1, 0.05, 0.03, 0.02])
    middle = weights[[3, 0, 5, 1, 4, 2]]
    report = decided(
        TableExplainer(additive(weights), {"leave-one-out": signed(weights), "gradient": {"L2": middle, "L1": middle}})
    )
    result = verdicts_result(report)
    view = shown("It is a good film indeed", names=("leave-one-out", "gradient"), verdicts=report, result=result)
    said = harmless(attribution_page(view)).said
    for part in (headline(result), *(caveat.explanation for caveat in result.caveats)):
        assert part in said
    assert Caveat.MEASURE_USES_MASKING in result.caveats
    assert TERMS[PER_UNIT] in said
    assert TERMS[PER_UNIT] not in harmless(attribution_page(shown(names=("leave-one-out",)))).said


def test_colour_is_never_the_only_sign():
    view = shown("A good [MASK] film", names=("leave-one-out", "beam"), scores={"leave-one-out": [-0.5, 1, 0, 0.005]})
    words = [
        attributes
        for _, attributes in harmless(attribution_page(view)).tags
        if "word" in attributes.get("class", "").split()
    ]
    assert [word["class"] for word in words[:4]] == ["word against", "word for", "word masked", "word"]
    assert [word.get("style") for word in words[:4]] == [
        "background:rgba(217,122,30,0.310)",
        "background:rgba(43,123,186,0.620)",
        None,
        None,
    ]
    assert words[0]["title"].startswith("A: ") and words[0]["title"].endswith(" -0.5 (place 3 of 3)")
    assert words[2]["title"].startswith("[MASK]: ") and words[2]["title"].endswith(" masked already")
    assert words[4]["title"].startswith("A: beam place ") and "style" not in words[4]
    for kind, line in (("for", "solid"), ("against", "dotted")):
        assert re.search(rf"\.{kind} {{\s+border-bottom: 3px {line} var\(--{kind}\)", STYLE)


def test_words_are_legible_in_both_themes_and_on_paper():
    themes = re.findall(r"--ground: (#\w{6});\s+--raised: (#\w{6});\s+--ink: (#\w{6});\s+--quiet: (#\w{6})", STYLE)
    assert len(themes) == 3 and themes[0] == themes[2] != themes[1]
    for ground, raised, ink, quiet in themes:
        for under in (ground, raised, *(blend(colour, ground, STRONGEST) for colour in (SUPPORTS, OPPOSES))):
            assert contrast(ink, under) >= 4.5
        assert contrast(quiet, ground) >= 4.5 and contrast(quiet, raised) >= 4.5
    assert "scheme: dark" in STYLE and "@media print" in STYLE and "url(" not in STYLE and "@import" not in STYLE


def test_a_page_without_measures_shows_the_text_and_one_with_a_second_text_says_so():
    page = harmless(attribution_page(shown("Only this.", names=(), second="And this.")))
    assert (
        page.texts == ["Only this.", "And this."]
        and "never masked" in page.said
        and "agree" not in page.said
        and "opposes" not in page.said
    )
    assert harmless(attribution_page(shown("one", names=("gradient",)))).said.count("agree") == 0


def test_what_the_model_does_not_read_is_counted():
    page = harmless(attribution_page(shown("one two three four", cut=2, names=("gradient",))))
    assert page.texts == [f"one two … {2} more words"]


def test_hundreds_of_classes_are_cut_to_the_likeliest_and_the_explained():
    labels = tuple(f"class {i}" for i in range(150))
    probabilities = np.arange(150) / np.arange(150).sum()
    text = attribution_page(shown(labels=labels, probabilities=probabilities, target=3, label_class=149))
    page = harmless(text)
    listed = [int(found) for found in re.findall('<th scope="row"><bdi>class (\\d+)</bdi>', text)]
    assert listed == [*range(149, 129, -1), 3]
    assert "129 more classes" in page.said and "here: class 3" in page.said and "is right: the label" in page.said

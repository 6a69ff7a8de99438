"""Files as spreadsheets, pandas and R write them: every row comes back as it was, and its text and label are found."""

import csv
import io
from typing import NamedTuple

import pandas
import pytest

from core.data.guessing import guess_mapping
from core.data.parsed import BadData
from core.data.tables import read_table

REVIEWS = [
    ["Warm, soft bread; and soup", "good", "4.5"],
    ['She said "never again" and left', "bad", "1.25"],
    ["Déjà vu: the café – naïve, but fine", "good", "3.75"],
    ["", "bad", "0.5"],
    ['It\'s 5" wide, not 6"', "bad", "2.5"],
    ["The harbour was cold", "good", "4.0"],
]
NAMES = ["text", "label", "score"]
BROKEN = [
    ["The first line\nand the second, longer one", "good"],
    ['He wrote:\n"no, thanks"\n\nand left', "bad"],
    ["Just one line", "bad"],
]
PLAIN = [["warm bread", "good"], ["cold, dark harbour", "bad"], ["salt soup", "good"], ["grey wall; wet", "bad"]]
GERMAN = [["Das Brot war warm", "gut", "4,5"], ["Zäh und fade", "schlecht", "1,25"], ["Schöner Garten", "gut", "3,75"]]
PAIRS = [
    ["A man, asleep", "He is awake; or not", "no"],
    ['"Go" he said', "They went", "yes"],
    ["It is", "It was", "no"],
]
ALONE = [["Warm, soft bread"], ["cold; dark"], ['a "quoted" word'], ["plain words here"]]


class Written(NamedTuple):
    """A file, and the columns and rows that must come back; text and label: what must be guessed."""

    file: str
    content: bytes
    columns: list[str]
    rows: list[list[str]]
    text: str = "text"
    label: str | None = "label"


def cells(rows, separator=",", ends="\r\n", quoting=csv.QUOTE_MINIMAL, **options) -> str:
    """As spreadsheets do: quotes where they are needed."""
    sink = io.StringIO(newline="")
    csv.writer(sink, delimiter=separator, lineterminator=ends, quoting=quoting, **options).writerows(rows)
    return sink.getvalue()


def excel(columns, rows, separator=",", encoding="utf-8-sig", file="a.csv", more="", **expected) -> Written:
    content = (cells([columns, *rows], separator) + more).encode(encoding)
    return Written(file, content, columns, rows, **expected)


def sheet(columns, rows, separator=",", ends="\n", encoding="utf-8", file="a.csv", **options) -> Written:
    """LibreOffice, and Google's sheets with Windows line ends and none after the last row."""
    content = cells([columns, *rows], separator, ends, **options)
    return Written(file, content.removesuffix("\r\n").encode(encoding), columns, rows)


def frame(columns, rows, file="a.csv", encoding="utf-8", **options) -> Written:
    """pandas; numbers stay numbers, so that it writes them in its own way."""
    table = pandas.DataFrame(rows, columns=columns)
    if "score" in table:
        table["score"] = table["score"].str.replace(",", ".").astype(float)
    there = options.get("index", True)
    back = [[str(i), *row] if there else list(row) for i, row in enumerate(rows)]
    names = ["column 1", *columns] if there else columns
    if options.get("header") is False:
        names = [f"column {number}" for number in range(1, len(names) + 1)]
    text, label = (names[columns.index(kind) + there] if kind in columns else None for kind in ("text", "label"))
    return Written(file, table.to_csv(**options).encode(encoding), names, back, text or "sentence1", label)


def frame_of_r(
    columns, rows, separator=" ", row_names=True, corner=False, quote=True, inner='\\"', ends="\n", **options
) -> Written:
    """R's write.table and, by other arguments, write.csv and write.csv2: text in quotes, numbers without."""

    def cell(value):
        number = value.replace(".", "").replace(",", "").isdigit() or value == "NA"
        return value if number or not quote else '"' + value.replace('"', inner) + '"'

    top = [cell(name) for name in (["", *columns] if corner else columns)]
    lines = [
        [f'"{i}"' if quote else str(i), *map(cell, row)] if row_names else list(map(cell, row))
        for i, row in enumerate(rows, start=1)
    ]
    header = options.pop("header", True)
    content = "".join(separator.join(line) + ends for line in ([top] if header else []) + lines)
    back = [[str(i), *row] if row_names else row for i, row in enumerate(rows, start=1)]
    names = ["column 1", *columns] if row_names else columns
    return Written(
        options.pop("file", "a.csv"), content.encode(options.pop("encoding", "utf-8")), names, back, **options
    )


def r_csv(columns, rows, **options) -> Written:
    return frame_of_r(columns, rows, **{"separator": ",", "corner": True, "inner": '""', **options})


def comma(rows) -> list[list[str]]:
    return [[*row[:-1], row[-1].replace(".", ",")] for row in rows]


def spreadsheets() -> dict[str, Written]:
    umlauts = ["Text", "Bewertung", "Wert"]
    french = [
        ["Un pain chaud", "bon", "4,5"],
        ["L'été, déjà fini", "mauvais", "1,25"],
        ["« Œuvre » à 5 €", "bon", "3,5"],
    ]
    german = {"text": "Text", "label": None}
    return {
        "Excel, English": excel(NAMES, REVIEWS, encoding="cp1252"),
        "Excel, English, UTF-8": excel(NAMES, REVIEWS),
        "Excel, English, lines in cells": excel(NAMES[:2], BROKEN),
        "Excel, English, text with tabs": excel(NAMES, REVIEWS, "\t", "cp1252", "a.tsv"),
        "Excel, English, Unicode text": excel(NAMES, REVIEWS, "\t", "utf-16", "a.tsv"),
        "Excel, English, Unicode text named csv": excel(NAMES[:2], BROKEN, "\t", "utf-16"),
        "Excel, English, one column": excel(["text"], ALONE, label=None),
        "Excel, English, empty rows below": excel(NAMES, REVIEWS, more=",,\r\n" * 3 + "\r\n\r\n"),
        "Excel, German": excel(NAMES, comma(REVIEWS), ";", "cp1252"),
        "Excel, German, UTF-8": excel(NAMES, comma(REVIEWS), ";"),
        "Excel, German, lines in cells": excel(NAMES[:2], BROKEN, ";"),
        "Excel, German, Unicode text": excel(NAMES, comma(REVIEWS), "\t", "utf-16", "a.tsv"),
        "Excel, German, German names": excel(umlauts, GERMAN, ";", "cp1252", **german),
        "Excel, German, comma in a name": excel(
            ["Text", "Wert, gemittelt"], [[row[0], row[2]] for row in GERMAN], ";", **german
        ),
        "Excel, German, no header": Written(
            "a.csv",
            cells([[row[0], row[2]] for row in GERMAN], ";").encode("cp1252"),
            ["column 1", "column 2"],
            [[row[0], row[2]] for row in GERMAN],
            "column 1",
            None,
        ),
        "Excel, German, one column": excel(["text"], ALONE, ";", label=None),
        "Excel, French": excel(["texte", "avis", "note"], french, ";", "cp1252", text="texte", label=None),
        "Excel, French, UTF-8": excel(["texte", "label", "note"], french, ";", text="texte"),
        "LibreOffice": sheet(NAMES, REVIEWS),
        "LibreOffice, all text in quotes": sheet(NAMES, REVIEWS, quoting=csv.QUOTE_ALL),
        "LibreOffice, lines in cells": sheet(NAMES[:2], BROKEN),
        "LibreOffice, decimal commas": sheet(NAMES, comma(REVIEWS)),
        "LibreOffice, semicolons, Windows-1252": sheet(NAMES, comma(REVIEWS), ";", encoding="cp1252"),
        "LibreOffice, tabs, Unicode": sheet(NAMES, REVIEWS, "\t", encoding="utf-16", file="a.tsv"),
        "LibreOffice, apostrophes as quotes": sheet(NAMES, REVIEWS, quotechar="'", quoting=csv.QUOTE_ALL),
        "Google Sheets": sheet(NAMES, REVIEWS, ends="\r\n"),
        "Google Sheets, lines in cells": sheet(NAMES[:2], BROKEN, ends="\r\n"),
        "Google Sheets, tabs": Written(
            "a.tsv", "\r\n".join("\t".join(row) for row in [NAMES, *REVIEWS]).encode(), NAMES, REVIEWS
        ),
        "Google Sheets, tabs, one column": Written(
            "a.tsv", "\r\n".join(row[0] for row in [["text"], *ALONE]).encode(), ["text"], ALONE, label=None
        ),
    }


def libraries() -> dict[str, Written]:
    pairs = ["sentence1", "sentence2", "label"]
    none = {"row_names": False, "corner": False}
    missing = [["warm bread", "good"], ["cold harbour", "NA"], ["salt soup", "bad"], ["wet wall", "good"]]
    return {
        "pandas": frame(NAMES, REVIEWS),
        "pandas, no index": frame(NAMES, REVIEWS, index=False),
        "pandas, lines in cells": frame(NAMES[:2], BROKEN, index=False),
        "pandas, decimal commas": frame(NAMES, comma(REVIEWS), sep=";", decimal=","),
        "pandas, tabs": frame(NAMES, REVIEWS, "a.tsv", sep="\t", index=False),
        "pandas, bars": frame(NAMES, REVIEWS, sep="|"),
        "pandas, all in quotes": frame(NAMES, REVIEWS, quoting=csv.QUOTE_ALL),
        "pandas, text in quotes": frame(pairs, PAIRS, quoting=csv.QUOTE_NONNUMERIC, index=False),
        "pandas, quotes after backslashes": frame(NAMES, REVIEWS, index=False, doublequote=False, escapechar="\\"),
        "pandas, separators after backslashes": frame(
            NAMES, REVIEWS, index=False, quoting=csv.QUOTE_NONE, escapechar="\\"
        ),
        "pandas, no header": frame(NAMES[:2], PLAIN, index=False, header=False),
        "pandas, mark": frame(pairs, PAIRS, encoding="utf-8-sig", index=False),
        "pandas, UTF-16": frame(NAMES, REVIEWS, encoding="utf-16", index=False),
        "pandas, one column": frame(["text"], ALONE, index=False),
        "R, write.csv": r_csv(NAMES, REVIEWS),
        "R, write.csv, no row names": r_csv(NAMES, REVIEWS, **none),
        "R, write.csv, lines in cells": r_csv(NAMES[:2], BROKEN),
        "R, write.csv, missing": r_csv(NAMES[:2], missing),
        "R, write.csv2": r_csv(NAMES, comma(REVIEWS), separator=";"),
        "R, write.csv2, Windows-1252": r_csv(
            NAMES, comma(REVIEWS), separator=";", encoding="cp1252", ends="\r\n", **none
        ),
        "R, write.table": frame_of_r(NAMES, REVIEWS),
        "R, write.table, no row names": frame_of_r(NAMES, REVIEWS, **none),
        "R, write.table, tabs": frame_of_r(NAMES, REVIEWS, "\t", file="a.tsv"),
        "R, write.table, commas": frame_of_r(NAMES[:2], PLAIN, ","),
        "R, write.table, tabs, no quotes": frame_of_r(NAMES, REVIEWS, "\t", quote=False, file="a.tsv", **none),
        "R, write.table, semicolons, two columns, no header": frame_of_r(
            ["column 1", "column 2"],
            [[row[0], row[2].replace(".", ",")] for row in REVIEWS if row[0]],
            ";",
            header=False,
            **none,
        )._replace(text="column 1", label=None),
        "R, write.table, semicolons, no header": frame_of_r(NAMES, comma(REVIEWS), ";", header=False, **none)._replace(
            columns=["column 1", "column 2", "column 3"], text="column 1", label="column 2"
        ),
        "R, readr": sheet(NAMES[:2], missing),
        "R, readr, write_csv2": sheet(NAMES, comma(REVIEWS[::-1]), ";"),
        "R, readr, write_csv2, two columns": sheet(
            ["text", "score"], [[r[0], r[2]] for r in comma(REVIEWS * 3)], ";"
        )._replace(label=None),
        "R, readr, write_tsv": sheet(pairs, PAIRS, "\t", file="a.tsv")._replace(text="sentence1"),
        "R, readr, for Excel": sheet(NAMES[:2], BROKEN, encoding="utf-8-sig"),
    }


FILES = spreadsheets() | libraries()


def back(table) -> list[list]:
    """Its rows, without the empty ones at the end."""
    rows = [list(row) for row in zip(*(table.cells[column] for column in table.columns))]
    while rows and not any(rows[-1]):
        rows.pop()
    return rows


def test_there_are_more_than_fifty():
    assert len({case.content for case in FILES.values()}) > 50


@pytest.mark.parametrize("case", FILES.values(), ids=FILES)
def test_every_row_comes_back(case):
    table = read_table(case.content, case.file)
    assert list(table.columns) == case.columns
    assert back(table) == [list(row) for row in case.rows]
    guessed = guess_mapping(table)
    assert (guessed.text, guessed.label) == (case.text, case.label)


def test_a_row_with_a_cell_too_many_has_no_row_number_unless_r_wrote_it():
    table = read_table(b"id,text\n1,one two,\n2,three four,\n", "a.csv")
    assert table.cells == {"id": ["1", "2"], "text": ["one two", "three four"]}
    table = read_table(b'"id","text"\n"1","one two",\n"2","three four",\n', "a.csv")
    assert table.cells == {"id": ["1", "2"], "text": ["one two", "three four"]}
    with pytest.raises(BadData, match="2 of 2 rows"):
        read_table(b"id,text\n1,one, two\n2,three, four\n", "a.csv")

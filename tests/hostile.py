"""Files as people have them: damaged, mislabelled, in old encodings, half filled. Each says what reading it must come
to.
"""

import functools
import gzip
import io
import json
import zipfile
from typing import NamedTuple

from core.data.tables import UPLOAD_BYTES

PLAIN = "text,label\nwarm bread,kitchen\ncold harbour,boat\nsalt soup,kitchen\n"


class Hostile(NamedTuple):
    """file: its name; content; refused: what the sentence must match, None if it is read; examples: how many are then
    found.
    """

    file: str
    content: bytes
    refused: str | None
    examples: int = 0


def parquet(columns: dict, **options) -> bytes:
    """A Parquet file of columns (lists, or pyarrow arrays)."""
    import pyarrow
    from pyarrow import parquet as writer

    sink = io.BytesIO()
    writer.write_table(pyarrow.table(columns), sink, **options)
    return sink.getvalue()


def swollen(rows: int, size: int, **options) -> bytes:
    """A Parquet file of one text of so many letters, held once and meant in every row."""
    import numpy as np
    import pyarrow

    return parquet(
        {"text": pyarrow.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), ["x" * size])},
        compression="zstd",
        **options,
    )


def columns_alike(*columns: list) -> bytes:
    """A Parquet file whose columns are all called text."""
    import pyarrow
    from pyarrow import parquet as writer

    sink = io.BytesIO()
    writer.write_table(
        pyarrow.table([pyarrow.array(values) for values in columns], names=["text"] * len(columns)), sink
    )
    return sink.getvalue()


def workbook(entry: str) -> bytes:
    """A zip archive with one entry."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        file.writestr(entry, "<x/>" * 50)
    return sink.getvalue()


def lines(*rows) -> bytes:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")


def ragged(good: int, bad: int) -> bytes:
    """A CSV file with unquoted commas in its last rows."""
    return ("text,label\n" + "one two,a\n" * good + "three, four, five,b\n" * bad).encode()


@functools.cache
def hostile_files() -> dict[str, Hostile]:
    """All of them by what is wrong."""
    return _binary() | _encodings() | _separated() | _contents() | _json() | _parquets()


def _binary() -> dict[str, Hostile]:
    return {
        "empty file": Hostile("a.csv", b"", r"^a\.csv is empty\.$"),
        "only blanks": Hostile("a.csv", b"\n \r\n\t\n", "is empty"),
        "only a byte-order mark": Hostile("a.csv", b"\xef\xbb\xbf", "is empty"),
        "only a long mark": Hostile("a.jsonl", b"\xff\xfe", "is empty"),
        "picture": Hostile("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), "picture"),
        "photograph": Hostile("photo.csv", b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)), "picture"),
        "archive": Hostile("a.csv", workbook("a.txt"), "archive.*[Uu]npack"),
        "gzip": Hostile("a.csv", gzip.compress(PLAIN.encode()), "archive.*[Uu]npack"),
        "gzip by name": Hostile("a.csv.gz", gzip.compress(PLAIN.encode()), "archive.*[Uu]npack"),
        "workbook": Hostile("a.xlsx", workbook("xl/workbook.xml"), "Excel.*CSV"),
        "workbook named csv": Hostile("a.csv", workbook("[Content_Types].xml"), "Excel.*CSV"),
        "workbook in name only": Hostile("a.xlsx", PLAIN.encode(), r"\.xlsx are not read.*CSV"),
        "old workbook": Hostile("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "Excel.*CSV"),
        "pickle": Hostile("a.csv", b"\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94.", "pickle.*never"),
        "document": Hostile("a.csv", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "binary"),
        "web page": Hostile("a.csv", b"\n<!DOCTYPE html><html><body>Log in</body></html>", "web page"),
        "pointer": Hostile(
            "a.parquet", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", "Git LFS"
        ),
        "noise": Hostile(
            "a.csv", bytes((i * 197 + i // 7) % 255 + 1 for i in range(5000)), "neither UTF-8 nor Windows-1252"
        ),
        "NUL bytes": Hostile("a.csv", b"text,label\nwarm,a\nco\0ld,b\n", "line 3.*NUL"),
        "block of zeros": Hostile("a.csv", PLAIN.encode() + b"\0" * 4096, "line 5.*NUL"),
        "no ending": Hostile("data", PLAIN.encode(), "ending in nothing.*not read"),
        "another ending": Hostile("a.docx", PLAIN.encode(), r"\.docx are not read.*\.csv"),
        "one byte too many": Hostile(
            "big.csv", b"text\n" + b"x" * (UPLOAD_BYTES - 4), r"10,000,001 bytes.*10 MB.*path"
        ),
    }


def _encodings() -> dict[str, Hostile]:
    french = "text,label\n" + "déjà vu à l'été,a\ncrème brûlée,b\n" * 3
    return {
        "UTF-8 with mark": Hostile("a.csv", PLAIN.encode("utf-8-sig"), None, 3),
        "UTF-16": Hostile("a.csv", PLAIN.encode("utf-16"), None, 3),
        "UTF-16 from the other end": Hostile("a.csv", b"\xfe\xff" + PLAIN.encode("utf-16-be"), None, 3),
        "UTF-16 without mark": Hostile("a.csv", PLAIN.encode("utf-16-le"), None, 3),
        "UTF-16 cut in half": Hostile("a.csv", PLAIN.encode("utf-16")[:-1], "damaged UTF-16"),
        "UTF-32": Hostile("a.csv", PLAIN.encode("utf-32"), None, 3),
        "Windows-1252": Hostile("a.csv", french.encode("cp1252"), None, 6),
        "Windows-1252 quotes": Hostile("a.csv", "text,label\n“so” he said – €5,a\n".encode("cp1252"), None, 1),
        "UTF-8 with one bad byte": Hostile("a.csv", french.encode() + b"caf\xe9,b\n", None, 7),
        "undecodable": Hostile("a.csv", b"text,label\nab,x\n\x81\x8d\x90\x9d,y\n", "line 3.*UTF-8"),
        "old Macintosh line ends": Hostile("a.csv", PLAIN.replace("\n", "\r").encode(), None, 3),
        "Windows line ends": Hostile("a.tsv", PLAIN.replace(",", "\t").replace("\n", "\r\n").encode(), None, 3),
        "mixed line ends": Hostile("a.csv", b"text,label\r\na b,x\rc d,y\ne f,x", None, 3),
        "emoji and many scripts": Hostile(
            "a.csv", "text,label\n👩‍👩‍👧 \U0001f3f4 家,a\nשלום עולם,b\n".encode(), None, 2
        ),
    }


def _separated() -> dict[str, Hostile]:
    long = "word " * 60_000
    wide = ",".join(f"c{i}" for i in range(4999)) + ",text\n" + (",".join("1" for _ in range(4999)) + ",a text\n") * 3
    return {
        "semicolons": Hostile("a.csv", b"text;label\nwarm, soft bread;a\ncold, dark, deep;b\n", None, 2),
        "tabs in a csv": Hostile("a.csv", b"text\tlabel\nwarm, soft bread\ta\ncold, dark\tb\n", None, 2),
        "bars": Hostile("a.csv", b"id|text|label\n1|warm, soft; bread|a\n2|cold|b\n", None, 2),
        "commas in a tsv": Hostile("a.tsv", PLAIN.encode(), None, 3),
        "separator declared": Hostile("a.csv", b"sep=;\r\ntext;label\r\nwarm, soft;a\r\n", None, 1),
        "quote never closed, rows clear": Hostile("a.csv", b'text,label\n"warm bread,a\ncold harbour,b\n', None, 2),
        "quote never closed, rows unclear": Hostile(
            "a.csv",
            b'text,label\n"warm, soft",a\n"cold, dark,b\n"wet, grey",a\n"x, y, z",b\n',
            "line [2-5].*quotation mark",
        ),
        "quotes inside quotes": Hostile("a.csv", b'text,label\n"he said "so" to me",a\n"fine, thanks",b\n', None, 2),
        "quotes after backslashes": Hostile(
            "a.csv", rb"text,label" + b"\n" + rb'"he said \"so, so\" to me",a' + b'\n"b, c",b\n', None, 2
        ),
        "quotes as letters in a tsv": Hostile(
            "a.tsv", b'text\tlabel\n"So" he said\ta\nan inch is 1"\tb\n"open\ta\n', None, 3
        ),
        "quotes after a space": Hostile("a.csv", b'label, text\na, "warm, soft"\nb, "cold"\n', None, 2),
        "lines inside quotes": Hostile("a.csv", b'text,label\n"one\ntwo, three\r\nfour",a\n"five",b\n', None, 2),
        "very long text": Hostile("a.csv", f"text,label\n{long},a\nshort,b\n".encode(), None, 2),
        "few ragged rows": Hostile("a.csv", ragged(8, 2), None, 8),
        "mostly ragged": Hostile("a.csv", ragged(2, 8), "8 of 10 rows.*row 3,.*Quote texts"),
        "short rows": Hostile("a.csv", b"text,label\na b,x\nc d,y\ne f\ng h,x\n", None, 3),
        "empty cells too many": Hostile("a.csv", b"text,label\na b,x,,\nc d,y,,\n", None, 2),
        "no header": Hostile(
            "a.csv",
            b'3,"Wall and gate were closed, again"\n1,"The boat came in at last"\n3,"They sold the mill today"\n',
            None,
            3,
        ),
        "columns named alike": Hostile("a.csv", b"text,text,label\na b,c d,x\ne f,g h,y\n", None, 2),
        "columns without name": Hostile("a.csv", b",text,,label\n0,a b,q,x\n1,c d,r,y\n", None, 2),
        "spaces around names": Hostile("a.csv", b" text , label \na b,x\nc d,y\n", None, 2),
        "header only": Hostile("a.csv", b"text,label\n", "no rows, only column names: text, label"),
        "header only, declared": Hostile("a.csv", b"sep=;\n", "no rows"),
        "one column": Hostile("a.csv", b"text\nwarm, soft bread\ncold\nwet; grey, loud\n", None, 3),
        "one column of everything": Hostile("a.csv", b"text\nwarm, soft\nwet; grey | loud\na\ttab\n", None, 3),
        "blank lines": Hostile("a.csv", b"\n\ntext,label\n\na b,x\n\n\nc d,y\n\n", None, 2),
        "thousands of columns": Hostile("a.csv", wide.encode(), None, 3),
        "far too many columns": Hostile("a.csv", b"," * 20_000 + b"\n" + b"," * 20_000 + b"\n", "20,001 columns"),
        "only separators": Hostile("a.csv", b',,\n,,\n"",,\n', "holds no rows"),
        "lines inside names": Hostile(
            "a.csv", b'id,text,"on\nlabel"\n', r"no rows, only column names: id, text, on label\.$"
        ),
        "no text in it": Hostile("a.csv", b"a,b\n1,2\n3,4\n", "no column holds text"),
        "not a table": Hostile("a.csv", b"{{{{\n", "no rows"),
    }


def _contents() -> dict[str, Hostile]:
    return {
        "empty texts": Hostile("a.csv", b"text,label\na b,x\n,y\n  ,x\nc d,y\n", None, 2),
        "all texts empty": Hostile("a.csv", b"text,label\n,y\n ,x\n", "no column holds text|no text"),
        "texts twice": Hostile("a.csv", b"text,label\na b,x\na b,y\na b,x\n", None, 3),
        "labels half empty": Hostile("a.csv", b"text,label\na b,x\nc d,\ne f,y\ng h,NaN\n", None, 4),
        "second texts half empty": Hostile("a.csv", b"sentence1,sentence2,label\na b,c d,x\ne f,,y\n", None, 2),
        "labels with point zero": Hostile("a.csv", b"text,label\na b,1.0\nc d,0.0\ne f,\n", None, 3),
        "labels true and false": Hostile("a.csv", b"text,label\na b,True\nc d,False\n", None, 2),
        "hidden labels": Hostile("a.csv", b"sentence,label,idx\na b,-1,0\nc d,-1,1\n", None, 2),
        "numbers as texts": Hostile("a.csv", b"text,label\n12,x\nabc,y\n3.5,x\n", None, 3),
        "only numbers as texts": Hostile("a.csv", b"text,label\n12,x\n15,y\n", None, 2),
        "ids twice": Hostile("a.csv", b"id,text,label\n7,a b,x\n7,c d,y\n,e f,x\n", None, 3),
        "formulas": Hostile("a.csv", b'text,label\n"=HYPERLINK(""http://x"",""y"")",a\n@SUM(1),b\n', None, 2),
        "markup": Hostile(
            "a.csv", b"text,label\n<img src=x onerror=alert(1)> **hi** [a](b) $x$,<b>bold</b>\nplain,b\n", None, 2
        ),
        "labels of many digits": Hostile(
            "a.csv", f"text,label\na b,{'9' * 5000}\nc d,-{'1' * 5000}\n".encode(), None, 2
        ),
        "control characters": Hostile("a.csv", b"text,label\nbell\x07 and \x1b[31mred,a\nplain,b\n", None, 2),
    }


def _json() -> dict[str, Hostile]:
    deep = b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    rows = [{"text": "warm bread", "label": 1}, {"text": "cold harbour", "label": 0}]
    return {
        "different keys": Hostile(
            "a.jsonl",
            lines({"text": "a b", "label": "x"}, {"text": "c d"}, {"label": "y", "text": "e f", "more": 1}),
            None,
            3,
        ),
        "nulls and NaN": Hostile(
            "a.jsonl",
            b'{"text": "a b", "label": NaN}\n{"text": null, "label": 1}\n{"text": "c", "label": 1.0}\n',
            None,
            2,
        ),
        "blank lines in JSON": Hostile("a.jsonl", b"\n" + lines(rows[0]) + b"\r\n \n" + lines(rows[1]), None, 2),
        "JSON with mark": Hostile("a.jsonl", b"\xef\xbb\xbf" + lines(*rows), None, 2),
        "list in a jsonl": Hostile("a.jsonl", json.dumps(rows, indent=1).encode(), None, 2),
        "lines in a json": Hostile("a.json", lines(*rows), None, 2),
        "list in a json": Hostile("a.json", json.dumps(rows).encode(), None, 2),
        "rows under a key": Hostile("a.json", json.dumps({"version": [1], "data": rows}, indent=2).encode(), None, 2),
        "columns in a json": Hostile(
            "a.json", json.dumps({"text": {"0": "a"}, "label": {"0": 1}}).encode(), "a single object"
        ),
        "JSON named csv": Hostile("a.csv", lines(*rows), None, 2),
        "csv named JSON": Hostile("a.jsonl", PLAIN.encode(), "line 1.*not valid JSON.*object"),
        "JSON broken off": Hostile("a.jsonl", lines(*rows) + b'{"text": "x', "line 3.*not valid JSON"),
        "list broken off": Hostile(
            "a.json", b'[\n{"text": "a"},\n{"text": ', r"line 3: not valid JSON \(.*, column 10\)\."
        ),
        "list of texts": Hostile("a.json", b'["a b", "c d"]', "row 1.*expected an object, found str"),
        "number in a line": Hostile("a.jsonl", lines(rows[0]) + b"12\n", "line 2.*expected an object, found int"),
        "empty list": Hostile("a.json", b"[]", "no rows"),
        "empty objects": Hostile("a.jsonl", b"{}\n{}\n", "no rows"),
        "nested far too deeply": Hostile("a.jsonl", deep, "nested too deeply|not valid JSON"),
        "nested deeply with halves": Hostile(
            "a.jsonl", b'{"text": "\\ud83d", "x": ' + b"[" * 900 + b"]" * 900 + b"}\n", "nested too deeply"
        ),
        "huge number": Hostile(
            "a.jsonl",
            b'{"text": "a b", "label": ' + b"9" * 5000 + b"}\n",
            r"line 1: not valid JSON \(too many digits\)\.",
        ),
        "texts as lists": Hostile(
            "a.jsonl",
            lines({"text": ["a", "b"], "label": "x"}, {"text": ["c"], "label": "y"}),
            "no column holds text|holds a list",
        ),
        "texts as objects": Hostile(
            "a.jsonl", lines({"review": {"en": "a b"}}, {"review": {"en": "c"}}), "no column holds text"
        ),
        "several labels": Hostile(
            "a.jsonl", lines({"text": "a b", "labels": [1, 2]}, {"text": "c d", "labels": [0]}), None, 2
        ),
        "tags as lists": Hostile(
            "a.jsonl", lines({"text": "a b", "tags": ["x", "y"]}, {"text": "c d", "tags": "y;z|x"}), None, 2
        ),
        "half a character": Hostile(
            "a.jsonl",
            b'{"text": "lone \\ud83d half", "label": "\\udc00"}\n{"text": "whole \\ud83d\\ude00", "label": "a"}\n',
            None,
            2,
        ),
        "keys that most rows lack": Hostile(
            "a.jsonl",
            lines({f"k{i}": "a" for i in range(9_999)}) + b'{"k1": 1}\n' * 1_010,
            "9,999 different keys in 1,011 rows",
        ),
        "another key each": Hostile(
            "a.jsonl", b"".join(b'{"k%d": "a"}\n' % i for i in range(10_500)), "10,500 different keys"
        ),
    }


def _parquets() -> dict[str, Hostile]:
    import pyarrow

    whole = parquet({"text": ["warm bread", "cold harbour"], "label": [1, 0]})
    features = {
        "info": {
            "features": {
                "label": {"names": ["no", "yes"], "_type": "ClassLabel"},
                "text": {"dtype": "string", "_type": "Value"},
            }
        }
    }
    named = pyarrow.table({"text": ["a b", "c d"], "label": [1, 0]}).replace_schema_metadata(
        {"huggingface": json.dumps(features)}
    )
    sink = io.BytesIO()
    from pyarrow import parquet as writer

    writer.write_table(named, sink)
    dictionary = pyarrow.array(["x", "y", None, "x"]).dictionary_encode()
    return {
        "Parquet named csv": Hostile("a.csv", whole, None, 2),
        "csv named Parquet": Hostile("a.parquet", PLAIN.encode(), "no Parquet file"),
        "Parquet cut off": Hostile("a.parquet", whole[:-20], "is no Parquet file"),
        "Parquet without its middle": Hostile("a.parquet", whole[:4] + whole[60:], "is no Parquet file|holds"),
        "Parquet of four bytes": Hostile("a.parquet", b"PAR1", "is no Parquet file"),
        "Parquet without rows": Hostile("a.parquet", parquet({"text": pyarrow.array([], pyarrow.string())}), "no rows"),
        "Parquet with categories": Hostile(
            "a.parquet", parquet({"text": ["a b", "c d", "e f", "g h"], "label": dictionary}), None, 4
        ),
        "Parquet with class names": Hostile("a.parquet", sink.getvalue(), None, 2),
        "Parquet with bytes": Hostile(
            "a.parquet",
            parquet({"text": [b"a b", b"c d"], "image": [b"\xff\xd8", b"\x89"], "label": ["x", "y"]}),
            None,
            2,
        ),
        "Parquet of one long text": Hostile(
            "a.parquet", swollen(600, 1_000_000), r"^a\.parquet holds more than 500 MB when unpacked\. Split it\.$"
        ),
        "Parquet of one long text, otherwise": Hostile(
            "a.csv", swollen(600, 1_000_000, store_schema=False), "holds more than 500 MB when unpacked. Split it"
        ),
        "Parquet of one text too often": Hostile(
            "a.parquet", swollen(2_000_001, 1), r"^a\.parquet holds more than 600,000 rows\. Split it\.$"
        ),
        "Parquet of one text quite often": Hostile("a.parquet", swollen(1_000, 10_000), None, 1_000),
        "Parquet of one long cell": Hostile(
            "a.parquet",
            parquet({"text": ["x" * 60_000_000, "b c"]}, compression="zstd", use_dictionary=False),
            r"^a\.parquet unpacks to more than 200 times its size\. Save it as CSV\.$",
        ),
        "Parquet of one cell that is too long": Hostile(
            "a.parquet",
            parquet({"text": ["warm bread", "x" * 10_000_001]}, compression="zstd"),
            r"^a\.parquet holds a cell of more than 10 MB\. Leave it out\.$",
        ),
        "Parquet of a long cell in a list": Hostile(
            "a.parquet", parquet({"text": ["a b"], "tags": [["x" * 10_000_001]]}), "cell of more than 10 MB"
        ),
        "Parquet with columns alike": Hostile("a.parquet", columns_alike(["a b", "c d"], ["e f", "g h"]), None, 2),
        "Parquet with columns of two kinds alike": Hostile("a.parquet", columns_alike(["a b"], [1]), None, 1),
        "Parquet with a text and a list alike": Hostile("a.parquet", columns_alike(["a b"], [["c"]]), None, 1),
        "Parquet with a text and an object alike": Hostile("a.parquet", columns_alike(["a b"], [{"z": 1}]), None, 1),
        "Parquet with dates": Hostile(
            "a.parquet", parquet({"text": ["a b"], "when": pyarrow.array([1], pyarrow.timestamp("ns"))}), None, 1
        ),
    }

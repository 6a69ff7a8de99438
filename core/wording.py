"""Numbers, durations, other people's text and error messages, as people read them."""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

# Everything that Streamlit's Markdown could take for markup, colour or emoji directives.
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&@/=])")
# Whatever ends a line: a second line could be a heading or a list.
_LINE_END = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")

LONGEST_NAME = 100
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)


def plain(text: str) -> str:
    """Text for a Markdown label, shown as typed."""
    return _MARKUP.sub(r"\\\1", _LINE_END.sub(" ", text))


def escaped(text: str, most: int = 60) -> str:
    """Text for an HTML element, shown as typed; NUL becomes its visible sign, long text is cut in the middle."""
    return html.escape(shortened(text, most).replace("\0", "␀"))


def joined(names: Sequence[str], last: str = "and") -> str:
    """Names for a sentence: "a, b and c"; "" for none; last: what stands before the last one."""
    return f" {last} ".join([", ".join(names[:-1]), *names[-1:]] if len(names) > 1 else names)


def shortened(text: str, most: int = 60) -> str:
    """At most `most` characters, the cut marked by …"""
    return text if len(text) <= most else text[: most - 21] + "…" + text[-20:]


def quoted(text: object, most: int = 80) -> str:
    """Somebody else's text in quotation marks for a sentence, long text cut in the middle, what cannot be shown
    escaped.
    """
    shown = repr(shortened(str(text), most))
    # One strange character may take ten to write.
    return shown if len(shown) <= 2 * most else shown[:most] + "…"


# Three ways to write a number, which differ on purpose; in each — where there is none.


def number(value: float) -> str:
    """Three significant digits, on the app's pages and on a terminal: whatever its size, and as it can be copied."""
    return "—" if value != value else f"{value:.3g}"


def printed_number(value: float) -> str:
    """The same with a true minus sign, in saved pages, which are read and printed."""
    return number(value).replace("-", "−")


def as_cell(value: Any) -> str:
    """A value of a table as text: counts whole, other numbers with three significant digits; "—" for none."""
    if value is None or value != value:
        return "—"
    if isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def p_value(p: float) -> str:
    """A p-value, no smaller than anybody can tell; "—" of none."""
    return number(p) if p != p else "p < 0.0001" if p < 1e-4 else f"p = {number(p)}"


def fixed_number(value: float) -> str:
    """Three decimals, for shares that stand in columns beside those that a paper prints so."""
    return "—" if value != value else f"{value:.3f}"


def with_ends(value: float, low: float, high: float, as_text: Callable[[float], str] = number) -> str:
    """A number with its interval, "2.2 [1.59, 4.06]"; alone where there is none."""
    return as_text(value) if low != low else f"{as_text(value)} [{as_text(low)}, {as_text(high)}]"


def ends_of(low: float | None, high: float | None, as_text: Callable[[float], str] = number) -> str:
    """The ends of an interval, "[1.59, 4.06]"; "" where there is none."""
    return "" if low is None or high is None or low != low else f"[{as_text(low)}, {as_text(high)}]"


def percent(value: float, metric: str = "accuracy") -> str:
    """Performance by one of METRICS: in percent, but for a correlation."""
    return f"{value:.3g}" if metric == "Matthews" else f"{100 * value:.1f} %"


def share_text(share: float, digits: int = 0) -> str:
    """A share in [0, 1] as percent, the one way in which the app writes it, with a space: "20 %"; halves go up."""
    # Formatting takes an exact half to the even digit: 4.5 and 5.5 % would read 4 and 6 %.
    return f"{100 * share + 1e-9:.{digits}f} %"


def bytes_text(size: int) -> str:
    """A size in memory or on disk."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


def unbroken(text: str) -> str:
    """A sentence whose percentages stay in one line."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def as_json(value: Any) -> Any:
    """A number for a JSON file, or an array of them as lists; None where there is none; anything else as it is."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list):
        return [as_json(one) for one in value]
    return None if value != value else value


def duration(seconds: float) -> str:
    """A duration in a unit that fits."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def estimate(seconds: float) -> str:
    """A duration that is expected, no finer than anybody can tell, behind "about": "1 s", which is the least, "8 s",
    "25 s", "60 s", "5 min", "3.5 h"; so coarse that what is told of one work at two places of a page, a moment apart,
    is the same.
    """
    if seconds < 90:
        step = 1 if seconds < 10 else 5 if seconds < 30 else 10
        return f"{max(1, step * round(seconds / step))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def shows_nothing(text: str) -> bool:
    """Whether nothing of a text is seen: spaces, control characters and what has no width."""
    return not any(letter.isprintable() and not letter.isspace() for letter in text)


def in_words(error: BaseException) -> str:
    """What an error says, without the system's number, which tells nobody anything."""
    return re.sub(r"^\[\w+ -?\d+\] ", "", str(error))


def in_short(error: BaseException) -> str:
    """The first line of what a library says, without its full stop."""
    line = in_words(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return line[:160].rstrip(" .:")


def safe_name(parts: Iterable[str], suffix: str = "") -> str:
    """A file name of ASCII letters, digits, - and _ that every system takes, at most 100 characters.

    Args:
        parts: what the file holds; letters lose their accents, the rest becomes -. Where all do not fit, the longest
            lose their middle, so that something of each is left.
        suffix: "csv" or ".csv"; none for a name to which a page adds its own.
    """
    words = (
        re.sub(r"[^A-Za-z0-9_]+", "-", unicodedata.normalize("NFKD", part).encode("ascii", "ignore").decode()).strip(
            "-_"
        )
        for part in parts
    )
    end = re.sub(r"[^A-Za-z0-9]", "", suffix)[:10]
    end = f".{end}" if end else ""
    most = LONGEST_NAME - len(end) - 1
    stem = "-".join(_fitted([word for word in words if word], most))[:most].strip("-_") or "faithscope"
    return (f"{stem}_" if _RESERVED.fullmatch(stem) else stem) + end


def cut_sentence(cut: Mapping[int, int], total: int) -> str:
    """How many of some texts are longer than a model reads, {text: tokens that it reads}; "" where none is."""
    if not cut:
        return ""
    were = "text was" if total == 1 else "texts was" if len(cut) == 1 else "texts were"
    return f"{len(cut):,} of {total:,} {were} cut to {max(cut.values()):,} tokens; what comes after is not read."


def _fitted(words: list[str], most: int) -> list[str]:
    """Words that joined by a sign take at most so many characters, the longest shortened in their middle."""
    # Joined, n words have n − 1 signs between them.
    room = most - max(0, len(words) - 1)
    longest = next((k for k in range(most, 1, -1) if sum(min(len(word), k) for word in words) <= room), 1)
    return [
        word if len(word) <= longest else word[: (longest + 1) // 2] + word[len(word) - longest // 2 :]
        for word in words
    ]


def text_table(header: list[str], body: list[list[str]]) -> str:
    """Rows as text for a terminal, in columns as wide as they need."""
    widths = [max(len(row[i]) for row in (header, *body)) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in (header, *body)
    )


def listed(items: Iterable, most: int = 5) -> str:
    """Some items for a sentence: "3, 4, 5 and 12 more"."""
    # Halves of characters cannot be shown or stored.
    items = [" ".join(str(item).encode("utf-8", "replace").decode("utf-8").split()) for item in items]
    items = [item if len(item) <= 60 else f"{item[:59]}…" for item in items]
    return ", ".join(items[:most]) + (f" and {len(items) - most:,} more" if len(items) > most else "")


def amount(count: int, noun: str) -> str:
    """How many of something, for a sentence: "1 text", "1,200 texts", "2 passes"."""
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith('s') else 's'}"


@dataclass(frozen=True)
class Tally:
    """How many of so many are counted, and whether more are on their way: what decides when a verdict may be told.

    A verdict may turn while more is to come, so until then what is counted stands alone. Where the work was stopped it
    is told of so many, if these are no fewer than `fewest`.

    left_out: of `total`, never to be counted; what: a word for one of them.
    """

    n: int = 0
    total: int = 0
    left_out: int = 0
    coming: bool = False
    what: str = "example"
    fewest: int = 1

    @property
    def complete(self) -> bool:
        return self.n + self.left_out >= self.total

    @property
    def settled(self) -> bool:
        """Whether a verdict may be told."""
        return self.complete or (not self.coming and self.n >= self.fewest)


# Of what nothing is to come any more.
WHOLE = Tally()


def ordinal(place: int) -> str:
    """A place as it is written: "1st", "12th"; no full stop, which before a number reads as a decimal point."""
    end = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{end}"


def counted(rows: Sequence[int]) -> str:
    """How many rows and which, for a sentence: "2 rows (4, 7)"."""
    return f"{amount(len(rows), 'row')} ({listed(rows)})"


def nearest_name(name: str, offered: Iterable[str]) -> str:
    """The name that is spelled most like this one; "" where none is."""
    folded = {one.casefold(): one for one in offered}
    near = get_close_matches(name.casefold(), folded, 1)
    return folded[near[0]] if near else ""


def refuse_unknown(*asked: tuple[str, Iterable[str], Iterable[str]]) -> None:
    """ValueError with a sentence for the first name that there is not, or that is named twice.

    Args:
        asked: (kind, names, those that there are).
    """
    for kind, chosen, offered in asked:
        unknown, chosen = [name for name in chosen if name not in offered], list(chosen)
        if unknown:
            near = nearest_name(unknown[0], offered)
            meant = f"; did you mean {near!r}? Choose" if near else "; choose"
            raise ValueError(f"there is no {kind} {quoted(unknown[0])}{meant} from {', '.join(offered)}")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"a {kind} is named twice: {listed(chosen, 10)}")

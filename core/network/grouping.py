"""Clauses and sentences: words of a text taken together, so that a long text has few features."""

import itertools
import re
import unicodedata

GROUPS = ("clause", "sentence")
RUN = re.compile(r"\S+")
_LINE_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
# Signs that end a sentence or a clause; after the full-width ones and long dashes no space needs to follow.
_FULL_ENDS, _FULL_PAUSES, _DASHES, _HYPHENS = "。｡！？", "，；：、､", "—―", ("-", "--", "---")
_ENDS, _PAUSES = ".!?…．؟।॥" + _FULL_ENDS, ",;:،؛" + _FULL_PAUSES
_SIGNS = {"sentence": _ENDS, "clause": _ENDS + _PAUSES + _DASHES + "–"}
# What only closes, and what closes behind a sign but opens before a word; what may stand before a word.
_BRACKETS, _QUOTES, _OPENERS = ")]}”’»›」』）】》〉〕］｝", "\"'*_", "\"'*_([{“‘„«‹"
_CLOSERS = _BRACKETS + _QUOTES
_NO_CLOSERS = dict.fromkeys(map(ord, _CLOSERS))
# A run of these alone goes with what ended before it.
_JOINING = {"sentence": _ENDS + _BRACKETS, "clause": _ENDS + _PAUSES + _BRACKETS}
_END_INSIDE = f"[{_FULL_ENDS}][{re.escape(_ENDS + _CLOSERS)}]*+"
_INSIDE = {"sentence": re.compile(_END_INSIDE), "clause": re.compile(f"{_END_INSIDE}|[{_FULL_PAUSES}{_DASHES}]++")}
_ABBREVIATIONS = frozenset("mr mrs ms mx dr prof st jr sr vs cf".split())


def find_groups(text: str, unit: str) -> list[tuple[int, int]]:
    """Find the clauses or sentences of a text, by rules of thumb and not by grammar.

    A *sentence* ends after . ! ? or … with the quotes and brackets that close behind it, where space
    follows ("3.5" goes on); after 。！？ also without space; at a blank line or two HTML line breaks.
    No end is a full stop after a single letter ("U.S."), after one of a few titles ("Dr."), and after a
    number that begins a sentence ("1."); so "plan B." wrongly goes on, and an abbreviation that is not
    listed wrongly ends. A *clause* ends there too, after , ; : – where space follows ("1,000" goes on),
    after — and ，；：、 also without, and after a hyphen or two that stand alone; so each item of a list
    is a clause. Signs that stand alone ("a film . it") belong to what they end. Punctuation alone is no
    clause or sentence: it goes with what follows, at the end of the text with what precedes.

    Args:
        text: any string.
        unit: "clause" or "sentence".
    Returns:
        list of (start, end), in order, not overlapping; together they hold all but space, none begins or
        ends with space. The words of `find_words` stay whole, but for those that a sign without space or
        a line break ends inside.
    Raises:
        KeyError: another unit.
    """
    parts = itertools.pairwise([0, *_cuts(text, unit), len(text)])
    groups = ((end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip())) for start, end in parts)
    return [(start, end) for start, end in groups if start < end]


def _cuts(text: str, unit: str) -> list[int]:
    """Where a group begins, but for the first."""
    signs, joining, inside = _SIGNS[unit], _JOINING[unit], _INSIDE[unit]
    # As long as the text, so that places stay.
    plain = _LINE_BREAK.sub(lambda tag: "\n" + " " * (len(tag[0]) - 1), text)
    cuts, worded, ended, before = [], False, False, 0
    for run in RUN.finditer(plain):
        start, end = run.span()
        joins = ended and not run[0].strip(joining)
        if worded and not joins and (ended or plain.count("\n", before, start) > 1):
            cuts.append(start)
            worded = False
        seen, begins = start, not worded
        # Behind a sign in here stands more than signs.
        for sign in inside.finditer(plain, start, start + len(run[0].rstrip(signs + _CLOSERS))):
            worded, seen = worded or _has_word(plain[seen : sign.end()]), sign.end()
            in_number = plain[sign.start() - 1 : sign.start()].isdecimal() and plain[seen : seen + 1].isdecimal()
            if worded and not in_number:
                cuts.append(seen)
                start, worded, begins = seen, False, True
        ended = joins or _ends(plain[start:end], unit, begins)
        worded, before = worded or _has_word(plain[seen:end]), end
    # Punctuation that is left over goes with the last group.
    return cuts if worded else cuts[:-1]


def _ends(part: str, unit: str, begins: bool) -> bool:
    """Whether a run of non-space characters ends a group; begins: its group has held nothing but punctuation so far."""
    if part in _HYPHENS:
        return unit == "clause"
    body = part.rstrip(_SIGNS[unit] + _CLOSERS)
    tail = part[len(body) :].translate(_NO_CLOSERS)
    if tail != "." or not body:
        return bool(tail)
    last = body.rpartition(".")[2].lstrip(_OPENERS)
    return not (
        (len(last) == 1 and last.isalpha()) or last.casefold() in _ABBREVIATIONS or (begins and body.isdecimal())
    )


def _has_word(part: str) -> bool:
    return any(unicodedata.category(letter)[0] != "P" for letter in part)

"""Saved pages as a browser would take them apart, and texts that try to be more than text."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import strategies as some

from core.reports.attribution_page import STYLE
from core.reports.exports import visible
from core.reports.page import POLICY

ANY = some.text(
    some.one_of(some.characters(), some.sampled_from("=+-@＝＋－＠\t\r\n;,\"' \ufeff\u2028\0\ud800<>&")), max_size=30
)
ATTACKS = [
    "<script>alert(1)</script>",
    "</style><script>alert(2)</script>",
    "<!-- --><img src=x onerror=alert(3)> -->",
    "</title><svg onload=alert(4)>",
    '" onmouseover="alert(5)" x="',
    "' onfocus='alert(6)' autofocus='",
    "javascript:alert(7)",
    "<a href=javascript:alert(8)>x</a>",
    "]]><iframe src=//example.org>",
    "&lt;script&gt;alert(9)&lt;/script&gt;",
    "&#60;b&#62;",
    "</textarea></main></body></html><p>",
    "{{7*7}} ${7*7}",
    "line\u2028separator\u2029paragraph\x85next",
    "a\0b\x1b[31m",
    "\u202eevil\u2066",
    "half \ud83d and \udc00 half",
    "<meta http-equiv=refresh content=0;url=//example.org>",
    "url(//example.org/x.png)",
    "@import '//example.org'",
    "<base href=//example.org>",
    "<bdi><b>",
    "\ufffe\uffff",
]


class Page(HTMLParser):
    """A page as a browser would take it apart."""

    VOID = frozenset({"meta", "link", "br"})

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.tags, self.style, self.texts, self.said, self.open = [], "", [], "", []
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        assert len(dict(attributes)) == len(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "p" and ("class", "text") in attributes:
            self.texts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1:] == ["style"]:
            self.style += text
            return
        self.said += text
        if "p" in self.open and self.texts and "sup" not in self.open and self.last("p") == "text":
            self.texts[-1] += text

    def last(self, tag):
        return next(attributes.get("class") for name, attributes in reversed(self.tags) if name == tag)

    def handle_comment(self, text):
        pytest.fail(f"a comment: {text}")

    def unknown_decl(self, text):
        pytest.fail(f"a declaration: {text}")

    def handle_pi(self, text):
        pytest.fail(f"an instruction: {text}")


PLAIN = (
    "html head title style body main header section footer h1 h2 p b ul li div span bdi sup small table thead tbody tr "
    "th td caption br dl dt dd meta link"
).split()
ATTRIBUTES = {
    "html": {"lang"},
    "meta": {"charset", "http-equiv", "content", "name"},
    "link": {"rel", "href"},
    "th": {"scope", "class"},
    "p": {"class", "dir"},
    "span": {"class", "title", "style"},
    "bdi": {"class", "title", "style", "dir"},
    "td": {"class", "style"},
}
STYLES = r"background:(#[0-9a-f]{6}|rgba\(\d+,\d+,\d+,0\.\d{3}\))|width:\d+\.\d%"


def harmless(text: str) -> Page:
    """Take a page apart; nothing but what we write ourselves may be in it."""
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag in PLAIN, tag
        assert attributes.keys() <= ATTRIBUTES.get(tag, {"class"}), (tag, attributes)
        assert re.fullmatch(STYLES, attributes.get("style", "width:0.0%")), attributes
        assert re.fullmatch("[a-z ]+", attributes.get("class", "x")) and attributes.get("dir", "auto") in (
            "auto",
            "ltr",
        )
    assert [attributes["href"] for tag, attributes in page.tags if tag == "link"] == ["data:,"]
    assert page.style == STYLE and text.count("<style>") == text.count("</style>") == 1
    (policy,) = (
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy == POLICY and "default-src 'none'" in policy
    text.encode("utf-8")
    return page


def shown_text(text: str) -> str:
    return visible(text).replace("\r\n", "\n").replace("\r", "\n")

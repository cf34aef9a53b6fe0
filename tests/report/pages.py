"""Reads pages for tests."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img", "hr"}


class Page(HTMLParser):
    """Reads a page, checks that every element is closed in order, and keeps what tests ask."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open = []
        self.elements = []
        self.words = []
        self.whole = text
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def check_safe(text, inline=("style", "script")):
    """No request, no style or script but its own, and nothing that cannot be seen."""
    parsed = Page(text)
    for tag, attributes in parsed.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "video", "audio")
        assert not {"src", "srcset", "action", "data", "background", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        href = attributes.get("href", "#")
        if href.startswith(("http://", "https://")):
            assert attributes["rel"] == "noreferrer"
        else:
            assert href.startswith(("#", "./"))
    assert "url(" not in "".join(re.findall(r"<style>.*?</style>", text, re.DOTALL))
    assert "@import" not in text.partition("</style>")[0]
    check_policy(text, inline)
    assert all(c.isprintable() or c == "\n" for c in text)
    return parsed


def check_policy(text, inline=("style", "script")):
    """The policy allows exactly the style and script that stand in the page, one of each; data is
    no script.
    """
    parsed = Page(text)
    policy = next(a["content"] for a in parsed.all("meta") if "Content-Security" in str(a.values()))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        code = [a for a in parsed.all(tag) if a.get("type") != "application/json"]
        assert len(found) == len(code) == (tag in inline)
        named = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in found]
        assert re.findall(rf"{tag}-src 'sha256-(.*?)'", policy) == named
        assert (f"{tag}-src" in policy) == (tag in inline)


def vectors(text):
    """The data of a page's table of vectors."""
    (found,) = re.findall(r'<script type="application/json" id="vector-data">(.*?)</script>', text)
    return json.loads(found)


def check_structure(text):
    """Landmarks, headings in order, names for what has a role, captions, targets of links."""
    parsed = Page(text)
    assert text.startswith("<!doctype html>\n")
    assert parsed.all("html") == [{"lang": "en"}]
    for tag in ("main", "h1", "header", "footer"):
        assert len(parsed.all(tag)) == 1, tag
    ids = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(ids) == len(set(ids))
    rows = {row["v"] for row in vectors(text)["rows"]} if "vector-data" in ids else set()
    for _, attributes in parsed.elements:
        if "aria-labelledby" in attributes:
            assert attributes["aria-labelledby"] in ids
        if attributes.get("href", "").startswith("#vector="):
            assert attributes["href"].removeprefix("#vector=") in rows
        elif attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids
        if attributes.get("role") in ("img", "region"):
            assert attributes["aria-label"].strip()
    assert len(parsed.all("caption")) == len(parsed.all("table"))
    assert all(a.get("scope") in ("row", "col") for a in parsed.all("th"))
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    return parsed

"""Reads an HTML page back, and checks what holds of every page that this project writes."""

import base64
import hashlib
import itertools
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


def check_alone(page):
    """It loads nothing; links that lead out of it are for a person to follow."""
    for tag, attributes in Page(page).elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "video", "audio")
        assert not {"src", "srcset", "action", "data", "background", "ping"} & set(attributes)
    assert "url(" not in page
    assert "@import" not in page


def check_policy(page, inline=("style", "script")):
    """Its policy allows exactly the style and script that stand in it, and there are no others."""
    parsed = Page(page)
    policy = next(a["content"] for a in parsed.all("meta") if "Content-Security" in str(a.values()))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(found) == len(parsed.all(tag)) == (tag in inline)
        for text in found:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy
        assert (f"{tag}-src" in policy) == (tag in inline)
    assert not any(name.startswith("on") for _, a in parsed.elements for name in a)
    assert not any("style" in a for _, a in parsed.elements)


def check_structure(page, once=("main", "h1", "nav", "header", "footer")):
    """The page, after landmarks, headings in order, captions, scopes, labels and whole links."""
    parsed = Page(page)
    assert page.startswith("<!doctype html>\n")
    assert parsed.all("html") == [{"lang": "en"}]
    for tag in once:
        assert len(parsed.all(tag)) == 1, tag
    ids = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes in parsed.elements:
        if "aria-labelledby" in attributes:
            assert attributes["aria-labelledby"] in ids
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids
        if attributes.get("role") in ("img", "region"):
            assert attributes["aria-label"].strip()
    assert len(parsed.all("caption")) == len(parsed.all("table"))
    assert all(a.get("scope") in ("row", "col") for a in parsed.all("th"))
    levels = [int(tag[1]) for tag, _ in parsed.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    return parsed


def check_visible(page):
    """No character is in it that a reader would not see."""
    assert all(c.isprintable() or c == "\n" for c in page)


def check_safe(page):
    """The page, after all that keeps what stands in it from doing anything."""
    check_alone(page)
    check_policy(page)
    check_visible(page)
    parsed = Page(page)
    for link in parsed.all("a"):
        if link["href"].startswith(("http://", "https://")):
            assert link["rel"] == "noreferrer"
        else:
            assert link["href"].startswith(("#", "./"))
    return parsed

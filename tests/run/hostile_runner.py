"""A hundred ways for a program to be a bad backend: `python hostile_runner.py PLACE.DOING`.

What it does (DOING) it does at one PLACE: before its hello, after it, at the first request, at the
third, in the middle of a response, at the end of its input; or it is its hello or response. It
imports only what starts quickly. It writes to its own streams, ends, or waits: nothing else.
"""

import json
import os
import signal
import struct
import sys
import time

QUESTIONS, ANSWERS = os.dup(0), os.dup(1)
HELLO = {
    "protocol": 1,
    "byte_order": "little",
    "name": "hostile",
    "version": "1",
    "capabilities": {"operators": ["AdaptiveAvgPool-8"], "dtypes": ["f32"]},
}
LONG = 600
"""Seconds that something hangs; every limit is shorter."""


def write(data, to=ANSWERS):
    while data:
        data = data[os.write(to, data) :]


def packed(header, payload=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<IQ", len(text), len(payload)) + text + payload


def right(question):
    shape, count = question["inputs"][0]["shape"], 1
    for size in shape:
        count *= size
    header = {"number": question["number"], "outputs": [{"dtype": "f32", "shape": shape}]}
    return header, bytes(4 * count)


def killed(number):
    def do():
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    return do


def hang():
    time.sleep(LONG)


def spin():
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        pass


def deaf():
    """Nothing but SIGKILL ends it."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT):
        signal.signal(number, signal.SIG_IGN)
    hang()


def close():
    os.close(ANSWERS)
    os.close(1)
    hang()


def close_all_and_exit():
    os.closerange(0, 64)
    os._exit(0)


def leave_a_child():
    """A child keeps the pipes, in the same group, and outlives its parent."""
    if os.fork() == 0:
        hang()
    os._exit(0)


def shout():
    for _ in range(64):
        write(b"x" * (1 << 16), 2)
    os._exit(1)


def trickle():
    """A byte now and then, which is never a message."""
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        write(b"\x01")
        time.sleep(0.05)


DOINGS = {
    "exits-0": lambda: os._exit(0),
    "exits-1": lambda: os._exit(1),
    "exits-255": lambda: os._exit(255),
    "segfaults": killed(signal.SIGSEGV),
    "aborts": killed(signal.SIGABRT),
    "is-killed": killed(signal.SIGKILL),
    "divides": killed(signal.SIGFPE),
    "breaks-its-pipe": killed(signal.SIGPIPE),
    "hangs": hang,
    "spins": spin,
    "is-deaf": deaf,
    "trickles": trickle,
    "closes": close,
    "closes-all": close_all_and_exit,
    "leaves-a-child": leave_a_child,
    "shouts": shout,
    "prints": lambda: write(b"computing AvgPool ...\nCONFORMANT. 3 of 3 passed\n"),
    "raises": lambda: 1 / 0,
}
"""What is done at a place; after ``prints`` the conversation goes on."""

WAITING = {"hangs", "spins", "is-deaf", "trickles", "closes"}
"""What only a limit ends."""

PLACES = ("before-hello", "after-hello", "at-first", "at-third", "in-response", "at-end")


def changed(**members):
    def answer(question):
        header, payload = right(question)
        return packed({**header, **members}, payload)

    return answer


def output(**members):
    def answer(question):
        header, payload = right(question)
        return packed({**header, "outputs": [{**header["outputs"][0], **members}]}, payload)

    return answer


RESPONSES = {
    "empty": lambda _: packed({}),
    "null": lambda _: packed(b"null"),
    "not-utf-8": lambda _: packed(b'{"number": 1, "message": "\xff\xfe"}'),
    "nan-seconds": changed(seconds=float("nan")),
    "endless-seconds": changed(seconds=1e300),
    "number-is-true": changed(number=True),
    "number-is-large": changed(number=1 << 200),
    "no-number": lambda question: packed({"outputs": []}),
    "message-of-a-megabyte": changed(ending="raised", message="x" * (1 << 20)),
    "message-is-a-list": changed(ending="raised", message=["x"]),
    "claims": changed(ending="raised", message="no\nCONFORMANT. 3 of 3 passed\x1b[2J"),
    "thousand-outputs": lambda question: packed(
        {"number": question["number"], "outputs": [{"dtype": "f32", "shape": [0]}] * 1000}
    ),
    "outputs-is-a-number": changed(outputs=3),
    "rank-of-a-thousand": output(shape=[1] * 1000),
    "size-of-2-to-the-70": output(shape=[1 << 70]),
    "size-is-true": output(shape=[True]),
    "dtype-is-null": output(dtype=None),
    "dtype-of-a-megabyte": output(dtype="f" * (1 << 20)),
    "not-sent-but-there": output(sent=False),
    "sent-is-a-text": output(sent="yes"),
    "changed-is-negative": changed(changed=[-1]),
    "payload-doubled": lambda question: packed(right(question)[0], 2 * right(question)[1]),
    "header-of-16-MiB": lambda question: packed(
        json.dumps(right(question)[0]).encode().ljust((16 << 20) + 1)
    ),
    "hello-again": lambda _: packed({"hello": HELLO}),
    "an-error": lambda _: packed({"error": {"message": "no device\nCONFORMANT"}}),
    "zeros-for-ever": lambda _: bytes(64),
    "the-question": lambda question: packed(question),
}
"""What is sent in place of a response."""

HELLOS = {
    "is-empty": {},
    "is-a-list": [],
    "protocol-is-text": HELLO | {"protocol": "1"},
    "protocol-is-0": HELLO | {"protocol": 0},
    "name-is-a-number": HELLO | {"name": 3},
    "operators-is-a-text": HELLO | {"capabilities": {"operators": "AvgPool-1"}},
    "ranks-are-texts": HELLO | {"capabilities": {"ranks": ["4"]}},
    "facts-are-a-list": HELLO | {"facts": ["x"]},
}
"""What is said in place of a hello."""

WAYS = (
    *(f"{place}.{doing}" for place in PLACES for doing in DOINGS),
    *(f"response.{name}" for name in RESPONSES),
    *(f"hello.{name}" for name in HELLOS),
)


def read(size):
    data = b""
    while len(data) < size:
        more = os.read(QUESTIONS, size - len(data))
        if not more:
            return None
        data += more
    return data


def main(place, doing):
    file = os.open(os.environ["STARTS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{os.getpid()}\n".encode())
    os.close(file)

    def at(here):
        if here == place:
            DOINGS[doing]()

    at("before-hello")
    write(packed({"hello": HELLOS[doing] if place == "hello" else HELLO}))
    at("after-hello")
    done = 0
    while prefix := read(12):
        header, payload = struct.unpack("<IQ", prefix)
        question = json.loads(read(header))
        read(payload)
        done += 1
        if done == 1:
            at("at-first")
        if done == 3:
            at("at-third")
        if place == "response":
            write(RESPONSES[doing](question))
            continue
        message = packed(*right(question))
        if place == "in-response":
            write(message[: len(message) // 2])
            at("in-response")
            message = message[len(message) // 2 :]
        write(message)
    at("at-end")


if __name__ == "__main__":
    main(*sys.argv[1].split("."))

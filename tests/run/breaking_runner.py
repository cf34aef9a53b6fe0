"""A program that keeps to the protocol, or breaks it in one way: `python breaking_runner.py WAY`.

It knows nothing of the package that it is tested with, and imports only what starts quickly. It
answers AvgPool-1 in f32 with zeros of the shape of the data, so that every answer is a failure;
what a way of breaking the protocol gives in place of that is the verdict under test.
"""

import json
import os
import signal
import struct
import sys
import time

QUESTIONS, ANSWERS = os.dup(0), os.dup(1)


def read(size):
    data = b""
    while len(data) < size:
        more = os.read(QUESTIONS, size - len(data))
        if not more:
            LEAVING.get(sys.argv[1], sys.exit)()
            sys.exit(0)
        data += more
    return data


def write(data):
    while data:
        data = data[os.write(ANSWERS, data) :]


def packed(header, payload=b"", order="<"):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack(order + "IQ", len(text), len(payload)) + text + payload


HELLO = {
    "protocol": 1,
    "byte_order": "little",
    "name": "runner",
    "version": "1",
    "capabilities": {"operators": ["AvgPool-1"], "dtypes": ["f32"]},
}


def right(number, question):
    """The answer of an honest runner."""
    shape = question["inputs"][0]["shape"]
    count = 1
    for size in shape:
        count *= size
    return {"number": number, "outputs": [{"dtype": "f32", "shape": shape}]}, bytes(4 * count)


def changed(**members):
    """An answer with other members."""

    def answer(number, question):
        header, payload = right(number, question)
        write(packed({**header, **members}, payload))

    return answer


def output(**members):
    """An answer whose output is described otherwise."""

    def answer(number, question):
        header, payload = right(number, question)
        write(packed({**header, "outputs": [{**header["outputs"][0], **members}]}, payload))

    return answer


def sent(data):
    """Bytes in place of an answer."""
    return lambda _number, _question: write(data)


def end(code):
    return lambda _number, _question: os._exit(code)


def raw(function):
    """An answer made from the whole message of an honest runner."""
    return lambda number, question: write(function(packed(*right(number, question))))


def drip(number, question):
    for byte in packed(*right(number, question)):
        write(bytes([byte]))
        time.sleep(0.2)


def endless(_number, _question):
    write(struct.pack("<IQ", 2, 1 << 20) + b"{}")
    while True:
        write(bytes(1 << 16))


def endless_errors(number, question):
    for _ in range(200):
        os.write(2, b"x" * (1 << 16))
    write(packed(*right(number, question)))


def closed(_number, _question):
    os.close(ANSWERS)
    os.close(1)
    time.sleep(60)


def hanging(_number, _question):
    time.sleep(60)


def grow(_number, _question):
    kept = []
    while True:
        kept.append(bytearray(b"x" * (1 << 22)))
        time.sleep(0.002)


def careful(number, question):
    """Answers only what it declares, as a runner should."""
    if question["op"] != "AvgPool-1":
        write(packed({"number": number, "ending": "unsupported", "message": "no such operator"}))
    else:
        write(packed(*right(number, question)))


ANSWERING = {
    "careful": careful,
    "honest": lambda number, question: write(packed(*right(number, question))),
    "unsupported": lambda number, _: write(packed({"number": number, "ending": "unsupported"})),
    "raises": lambda number, _: write(
        packed({"number": number, "ending": "raised", "message": "\x1b[31mno\u202e kernel"})
    ),
    "no-output": changed(outputs=[]),
    "hangs": hanging,
    "exits": end(3),
    "exits-well": end(0),
    "segfault": lambda _n, _q: os.kill(os.getpid(), signal.SIGSEGV),
    "abort": lambda _n, _q: os.abort(),
    "garbage": sent(bytes(range(128, 256)) * 10),
    "prints": sent(b"computing AvgPool ...\n" * 3),
    "prints-before": lambda number, question: write(
        b"computing AvgPool ...\n" + packed(*right(number, question))
    ),
    "big-endian": lambda number, question: write(packed(*right(number, question), order=">")),
    "other-number": changed(number=12345),
    "number-text": changed(number="1"),
    "unknown-ending": changed(ending="fine"),
    "ending-crashed": changed(ending="crashed"),
    "long-message": changed(message="x" * 10000),
    "seconds-text": changed(seconds="fast"),
    "changed-none": changed(changed=[7]),
    "count-wrong": changed(count=3),
    "too-few-bytes": raw(lambda whole: whole[:4] + struct.pack("<Q", 0) + whole[12:]),
    "too-many-bytes": output(shape=[0]),
    "float32": output(dtype="float32"),
    "negative-size": output(shape=[-1]),
    "size-text": output(shape=["3"]),
    "shape-missing": output(shape=None),
    "huge-shape": output(shape=[1 << 40, 1 << 40, 0]),
    "wrong-type": output(dtype="i32"),
    "header-not-json": sent(packed(b"{number: 1}")),
    "header-a-list": sent(packed([1, 2])),
    "header-deep": sent(packed(b"[" * 100_000)),
    "header-too-long": sent(struct.pack("<IQ", (16 << 20) + 1, 0)),
    "payload-too-long": sent(struct.pack("<IQ", 2, 1 << 60)),
    "endless": endless,
    "endless-errors": endless_errors,
    "half-an-answer": raw(lambda whole: whole[: len(whole) // 2]),
    "twice": raw(lambda whole: 2 * whole),
    "drips": drip,
    "closes-pipe": closed,
    "grows": grow,
}

LEAVING = {
    "stays": lambda: time.sleep(60),
    "ends-with-3": lambda: sys.exit(3),
    "ends-with-segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "says-goodbye": lambda: write(b"goodbye\n"),
}


def late():
    time.sleep(1.4)
    write(packed({"hello": HELLO}))


def says_more_later():
    write(packed({"hello": HELLO}))
    time.sleep(0.3)
    write(b"the device is ready\n")


CLAIM = "no device\nCONFORMANT. 3 of 3 passed\x1b[2J"


def boasts():
    process = {"python": "CPython 9", "platform": "Z80", "variables": {}, "packages": {}}
    pieces = [["file", "not.mine", "0" * 64]]
    name = f"{CLAIM} {'x' * 1_000_000}"
    told = {"name": name, "version": name, "process": process, "pieces": pieces, "beside": pieces}
    write(packed({"hello": HELLO | told}))


STARTING = {"late": late, "says-more-later": says_more_later, "boasts": boasts}
"""Ways to start after which a program is asked something."""

INTRODUCING = {
    "says-more": lambda: write(packed({"hello": HELLO}) + b"ready\n"),
    "says-hello-twice": lambda: write(packed({"hello": HELLO}) * 2),
    "leaves": lambda: os._exit(write(packed({"hello": HELLO})) or 0),
    "claims": lambda: write(packed({"error": {"message": CLAIM, "hint": CLAIM}})),
    "claims-on-stderr": lambda: os._exit(os.write(2, f"{CLAIM}\n".encode())),
    "echoes": lambda: os.execvp("cat", ["cat"]),
    "silent": lambda: time.sleep(60),
    "gone": lambda: os._exit(4),
    "other-version": lambda: write(packed({"hello": {**HELLO, "protocol": 2}})),
    "other-order": lambda: write(packed({"hello": {**HELLO, "byte_order": "big"}})),
    "no-name": lambda: write(packed({"hello": {**HELLO, "name": ""}})),
    "bad-capabilities": lambda: write(packed({"hello": {**HELLO, "capabilities": {"types": []}}})),
    "greets": lambda: write(b"Initialising NPU driver ... done\n"),
    "error": lambda: write(packed({"error": {"message": "no device"}})),
}


def main(way):
    if "STARTS" in os.environ:
        file = os.open(os.environ["STARTS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{os.getpid()}\n".encode())
        os.close(file)
    {**INTRODUCING, **STARTING}.get(way, lambda: write(packed({"hello": HELLO})))()
    while True:
        header, payload = struct.unpack("<IQ", read(12))
        question = json.loads(read(header))
        read(payload)
        ANSWERING.get(way, careful)(question["number"], question)


if __name__ == "__main__":
    main(sys.argv[1])

from __future__ import annotations

import signal
import threading

import pytest

from conformance.errors import Interrupted
from conformance.run.interruption import SIGNALS, Interruption

HERE = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_between_calls_it_is_only_noted():
    interruption = Interruption()
    with interruption.listening():
        ctrl_c()
        assert interruption.requested


def test_during_a_call_it_is_raised():
    interruption = Interruption()
    with interruption.listening(), pytest.raises(KeyboardInterrupt), interruption.backend_runs():
        ctrl_c()
    assert interruption.requested


def test_the_second_one_is_always_raised():
    interruption = Interruption()
    with interruption.listening():
        ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()


def test_the_old_handler_comes_back():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="inside"), Interruption().listening():
        raise ValueError("inside")
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_nothing_is_taken_over():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work():
        with Interruption().listening():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


@pytest.mark.parametrize("first", HERE)
@pytest.mark.parametrize("second", HERE)
def test_every_signal_is_taken_and_the_first_gives_the_exit_code(first, second):
    interruption = Interruption()
    with interruption.listening():
        signal.raise_signal(first)
        assert interruption.requested
        with pytest.raises(Interrupted) as caught:
            signal.raise_signal(second)
    assert interruption.exit_code == 128 + first
    assert caught.value.exit_code == 128 + second


def test_what_is_ignored_stays_so():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        interruption = Interruption()
        with interruption.listening():
            signal.raise_signal(signal.SIGTERM)
        assert not interruption.requested
    finally:
        signal.signal(signal.SIGTERM, before)

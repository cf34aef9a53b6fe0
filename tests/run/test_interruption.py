from __future__ import annotations

import signal
import sys
import threading

import pytest

from conformance.errors import Interrupted
from conformance.run.interruption import SIGNALS, Interruption, Stopped

HERE = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]


class Own(KeyboardInterrupt):
    """What a host program's own handler raises."""


@pytest.fixture
def host():
    """Installs a handler of the host program for some signals; gives back the calls of it."""
    before = {number: signal.getsignal(number) for number in HERE}
    calls = []

    def install(*numbers, raising=None):
        def handler(number, _frame):
            calls.append(number)
            if raising is not None:
                raise raising

        for number in numbers:
            signal.signal(number, handler)
        return calls

    yield install
    for number, handler in before.items():
        signal.signal(number, handler)


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_between_calls_it_is_only_noted(host):
    calls = host(signal.SIGINT)
    interruption = Interruption()
    with interruption.listening():
        ctrl_c()
        assert interruption.requested
        with pytest.raises(Stopped):
            interruption.stop_if_requested()
        assert calls == []
    assert calls == [signal.SIGINT]


def test_during_a_call_it_is_raised():
    interruption = Interruption()
    with (
        pytest.raises(KeyboardInterrupt),
        interruption.listening(),
        pytest.raises(Interrupted),
        interruption.backend_runs(),
    ):
        ctrl_c()
    assert interruption.requested


def test_the_second_one_is_always_raised(host):
    calls = host(signal.SIGINT)
    interruption = Interruption()
    with interruption.listening():
        ctrl_c()
        with pytest.raises(Interrupted):
            ctrl_c()
    assert calls == [signal.SIGINT]


def test_the_old_handler_comes_back():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="inside"), Interruption().listening():
        raise ValueError("inside")
    assert signal.getsignal(signal.SIGINT) is before


class TestTheHostDecides:
    def test_python_itself_raises_with_what_was_found(self):
        interruption = Interruption()
        interruption.run = "found"
        with pytest.raises(KeyboardInterrupt) as caught, interruption.listening():
            ctrl_c()
        assert caught.value.run == "found"

    def test_its_own_exception_comes_out(self, host):
        host(signal.SIGTERM, raising=SystemExit(7))
        with pytest.raises(SystemExit) as caught, Interruption().listening():
            signal.raise_signal(signal.SIGTERM)
        assert caught.value.code == 7

    def test_a_keyboard_interrupt_of_its_own_stays_what_it_is(self, host):
        host(signal.SIGINT, raising=Own())
        with pytest.raises(Own) as caught, Interruption().listening():
            ctrl_c()
        assert caught.value.run is None

    def test_a_call_that_was_cut_short_has_nothing_to_return(self, host):
        calls = host(signal.SIGTERM)
        interruption = Interruption()
        with (
            pytest.raises(Interrupted) as caught,
            interruption.listening(),
            interruption.backend_runs(),
        ):
            signal.raise_signal(signal.SIGTERM)
        assert calls == [signal.SIGTERM]
        assert caught.value.exit_code == 143

    def test_an_error_of_the_call_does_not_hide_the_signal(self, host):
        calls = host(signal.SIGTERM)

        def fail():
            signal.raise_signal(signal.SIGTERM)
            raise ValueError("inside")

        with pytest.raises(ValueError, match="inside"), Interruption().listening():
            fail()
        assert calls == [signal.SIGTERM]


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


@pytest.mark.parametrize(
    ("error", "ends"), [(KeyboardInterrupt(), True), (ValueError(), False), (None, False)]
)
def test_a_ctrl_c_that_nobody_handled_ends_a_call(monkeypatch, error, ends):
    monkeypatch.setattr(sys, "last_value", KeyboardInterrupt(), raising=False)
    interruption = Interruption()
    assert not interruption.requested  # what was printed before is no business of this call
    if error is not None:
        monkeypatch.setattr(sys, "last_value", error)
    assert interruption.requested == ends


@pytest.mark.parametrize("first", HERE)
@pytest.mark.parametrize("second", HERE)
def test_every_signal_is_taken_and_the_first_gives_the_exit_code(host, first, second):
    calls = host(*HERE)
    interruption = Interruption()
    with interruption.listening():
        signal.raise_signal(first)
        assert interruption.requested
        with pytest.raises(Interrupted) as caught:
            signal.raise_signal(second)
    assert interruption.exit_code == 128 + first
    assert caught.value.exit_code == 128 + second
    assert calls == list(dict.fromkeys([first, second]))


def test_what_is_ignored_stays_so():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        interruption = Interruption()
        with interruption.listening():
            signal.raise_signal(signal.SIGTERM)
        assert not interruption.requested
    finally:
        signal.signal(signal.SIGTERM, before)

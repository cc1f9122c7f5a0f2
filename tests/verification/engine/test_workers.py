"""Local workers give the numbers of one process."""

import threading

import pytest

from tests.verification.support import run
from verification.engine import workers
from verification.engine.workers import Pool

CLAIMS = ["lemma-2", "s_i"]


def test_workers_change_nothing(tmp_path):
    assert run(CLAIMS, tmp_path / "a") == run(CLAIMS, tmp_path / "b", pool=Pool(2))


def fail_in_a_thread():
    def fail():
        raise KeyError(221)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


def test_errors_of_other_threads_are_told_at_the_end(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", lambda error: told.append(error.exc_type))
    with workers._thread_errors_told_later():
        fail_in_a_thread()
        assert told == []
    assert told == [KeyError]


def test_after_an_interruption_they_are_not(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", lambda error: told.append(error.exc_type))
    told_later = workers._thread_errors_told_later()
    told_later.__enter__()
    fail_in_a_thread()
    with pytest.raises(KeyboardInterrupt):
        told_later.gen.throw(KeyboardInterrupt)
    fail_in_a_thread()
    assert told == []

"""The fair lock: one at a time, reentrant, in the order of asking."""

import threading
import time

import pytest

from core.network.locks import FairLock


def _run(*workers) -> None:
    threads = [threading.Thread(target=worker, daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_never_two_inside():
    lock, inside, seen = FairLock(), [0], []

    def work():
        for _ in range(300):
            with lock, lock:
                inside[0] += 1
                seen.append(inside[0])
                time.sleep(0)
                inside[0] -= 1

    _run(*[work] * 6)
    assert seen == [1] * 1800


def test_waiting_threads_come_in_the_order_of_asking():
    lock, order = FairLock(), []

    def ask(i):
        with lock:
            order.append(i)

    with lock:
        threads = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(8)]
        for i, thread in enumerate(threads):
            thread.start()
            while lock.waiting <= i:
                time.sleep(0.001)
        assert lock.waiting == 8
    for thread in threads:
        thread.join(10)
    assert order == list(range(8)) and lock.waiting == 0


def test_who_holds_it_does_not_wait():
    lock = FairLock()
    assert lock.waiting == 0
    with lock, lock:
        assert lock.waiting == 0
    assert lock.waiting == 0


def test_a_greedy_thread_lets_another_in_after_one_turn():
    lock, turns, stop = FairLock(), [0], threading.Event()

    def greedy():
        while not stop.is_set():
            with lock:
                turns[0] += 1
                time.sleep(0.005)

    thread = threading.Thread(target=greedy, daemon=True)
    thread.start()
    while not turns[0]:
        time.sleep(0.001)
    for _ in range(20):
        before = turns[0]
        with lock:
            # At most the turn that was under way, and one that was asked for before ours.
            assert turns[0] - before <= 2
    stop.set()
    thread.join(10)


def test_an_error_inside_gives_the_lock_back_and_strangers_cannot():
    lock = FairLock()
    with pytest.raises(KeyError), lock:
        raise KeyError
    _run(lock.__enter__)
    with pytest.raises(RuntimeError, match="thread"):
        lock.__exit__()


def test_a_waiter_that_is_interrupted_leaves_the_queue(monkeypatch):
    lock = FairLock()
    holding, done = threading.Event(), threading.Event()

    def hold():
        with lock:
            holding.set()
            done.wait(10)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    holding.wait(10)

    class Interrupted(threading.Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("core.network.locks.threading.Event", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            lock.__enter__()
    assert lock.waiting == 0
    done.set()
    thread.join(10)
    with lock:
        pass

"""The attack finds nothing, and finds what is planted."""

import subprocess
import sys

import pytest

from core.settings import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is killed is forked and measured as Linux does")

PLANTED = """
import os, sys, time
from pathlib import Path
from tests.attack import kills, tally
from tests.attack.kills import Job, Kills
from tests.attack.tally import Tally

def in_place(at):
    # Not whole or not at all, and what is there is taken for whole.
    place = at / "made" / "out"
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        with place.open("wb", 0) as file:
            for i in range(20):
                file.write(b"x")
                time.sleep(0.002)

def left(at):
    (at / "made").mkdir(exist_ok=True)
    (at / "made" / f".{os.getpid()}.lock").write_bytes(b"")
    time.sleep(0.05)
    (at / "made" / f".{os.getpid()}.lock").unlink()
    (at / "made" / "out").write_bytes(b"x")

def raises(at):
    (at / "made").mkdir(exist_ok=True)
    os.mkdir(at / "made" / "out")

def hangs(at):
    if (at / "begun").exists():
        time.sleep(600)
    (at / "begun").mkdir()
    time.sleep(0.05)

kills.HANG = tally.HANG = 0.5
found = []
for job in (in_place, left, raises, hangs):
    told = Tally("kills", 0)
    attack = Kills(told, Path(sys.argv[1]))
    attack.jobs = [Job(job.__name__, job)]
    for step in range(8):
        attack.step(step)
    print(job.__name__, *sorted(told.found), sep=", ", file=sys.stderr)
"""


def attacked(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)


def test_everything_is_attacked_and_nothing_found():
    ended = attacked("-m", "tests.attack", "--size", "small")
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_what_is_planted_is_found(tmp_path):
    ended = attacked("-c", PLANTED, str(tmp_path))
    assert ended.returncode == 0 and [tuple(line.split(", ")) for line in ended.stderr.splitlines()] == [
        ("in_place", "wrong numbers"),
        ("left", "other failures"),
        ("raises", "other failures", "tracebacks"),
        ("hangs", "hangs over 10 s"),
    ]


FAILS_ONCE_CHANGED = """
import sys
from pathlib import Path
from streamlit.testing.v1 import AppTest
from tests.attack import presses
from tests.attack.tally import Tally

def page():
    import streamlit as st
    named = {"format_func": lambda one: f"no. {one}"}
    widgets = {
        "button": lambda: st.button("b"),
        "button_group": lambda: st.segmented_control("b", [1, 2], **named),
        "checkbox": lambda: st.checkbox("b"),
        "multiselect": lambda: st.multiselect("b", [1, 2], **named),
        "number_input": lambda: st.number_input("b", 0, 9, 1) != 1,
        "radio": lambda: st.radio("b", [1, 2], **named) == 2,
        "select_slider": lambda: st.select_slider("b", ["1", "2"]) == "2",
        "selectbox": lambda: st.selectbox("b", [1, 2], **named) == 2,
        "slider": lambda: st.slider("b", 0, 9, 1) != 1,
        "text_area": lambda: st.text_area("b"),
        "text_input": lambda: st.text_input("b"),
        "toggle": lambda: st.toggle("b"),
    }
    if widgets[st.session_state.kind]():
        raise ValueError("planted")

class App:
    def __init__(self, _):
        self.at = AppTest.from_function(page)
        self.at.session_state["kind"] = kind
        self.run()

    def run(self):
        self.at.run()
        assert not self.at.exception

    go = __init__

presses.App, presses._SECONDS = App, 0.0
for kind in presses.KINDS:
    told = Tally("presses", 0)
    presses.attack(told, Path(sys.argv[1]), 4, 3, None)
    print(kind, told.found.get("other failures", 0), file=sys.stderr)
"""


def test_each_kind_of_widget_is_pressed_and_a_page_that_fails_is_found(tmp_path):
    ended = attacked("-c", FAILS_ONCE_CHANGED, str(tmp_path))
    found = dict(line.split() for line in ended.stderr.splitlines() if "ScriptRunContext" not in line)
    assert ended.returncode == 0 and len(found) == 12 and all(0 < int(count) <= 4 for count in found.values()), found


def test_a_victim_dies_before_the_change_that_was_meant(tmp_path):
    code = (
        "import sys; from pathlib import Path; from tests.attack.victims import Victim\n"
        "from core.storage.files import write_whole\n"
        "at = Path(sys.argv[1])\n"
        "for dies in range(8):\n"
        "    with Victim(lambda: write_whole(at / 'file', b'x' * 9), at, dies=dies, torn=0.5) as victim:\n"
        "        ended = victim.wait(9)\n"
        "    there = sorted((path.suffix, path.stat().st_size) for path in at.iterdir())\n"
        "    print(ended.status, ended.changes, there)\n"
        "    for path in at.iterdir(): path.unlink()\n"
    )
    ended = attacked("-c", code, str(tmp_path))
    assert ended.stderr == "" and ended.stdout.splitlines() == [
        "0 7 [('', 9)]",
        "None 0 []",
        "None 0 []",
        "None 0 [('.tmp', 0)]",
        "None 0 [('.tmp', 9)]",
        "None 0 [('.tmp', 4)]",
        "None 0 [('.tmp', 9)]",
        "None 0 [('', 9)]",
    ]

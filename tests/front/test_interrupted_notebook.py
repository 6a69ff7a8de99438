"""A notebook's kernel that is interrupted in the middle: the next cell works, with the numbers of an undisturbed one."""

import json
import time

import pytest
from jupyter_client.manager import start_new_kernel

from tests.test_floors import ROOT

TEXT = "A gripping, funny and moving film, though far too long."
TEXTS = ["A dull film that never finds its feet.", "I would gladly see this comedy again."]
LOAD = 'import core, json, os\nmodel = core.load("sst2-fmm")'
# Each cell's work takes seconds, and begins with the text.
WORK = {
    "explain": f'core.explain(model, {TEXT!r}, ["leave-one-out", "integrated gradients [steps=200]", "KernelSHAP"])',
    "limits": f'core.explain(model, {TEXT!r}, ["leave-one-out"]).limits()',
    "evaluate": f'core.evaluate(model, {TEXTS!r}, "verdicts", ["leave-one-out"])',
}


class Notebook:
    """A kernel whose cells run one after the other; begun: said by a cell before what is interrupted."""

    def __init__(self, client, manager):
        self.client, self.manager = client, manager

    def run(self, code: str, interrupted: float | None = None) -> tuple[str, str]:
        """What a cell prints, and the name of its error, "" without; interrupted: seconds after it has begun."""
        begun = 'print("begun", flush=True)\n'
        asked, printed = self.client.execute(code if interrupted is None else begun + code), ""
        while True:
            message = self.client.get_iopub_msg(timeout=300)
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream" and content["name"] == "stdout":
                printed += content["text"]
                if interrupted is not None and "begun" in printed:
                    time.sleep(interrupted)
                    self.manager.interrupt_kernel()
                    interrupted = None
            elif kind == "status" and content["execution_state"] == "idle":
                return printed, self.replied(asked).get("ename", "")

    def replied(self, asked: str) -> dict:
        while (reply := self.client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != asked:
            pass
        return reply["content"]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    place = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAITHSCOPE_CACHE", str(place / "cache"))
        patch.setenv("PYTHONPATH", str(ROOT))
        manager, client = start_new_kernel(cwd=str(place))
    # As where a kernel starts slowly: it is asked again and again whether it is there, and its later answers are unread.
    client.kernel_info()
    try:
        yield Notebook(client, manager), place
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_libraries_that_were_being_imported_work_afterwards(notebook):
    kernel, _ = notebook
    assert [kernel.run(LOAD, after)[1] for after in (0.2, 0.2)] == ["KeyboardInterrupt"] * 2
    assert kernel.run(f"{LOAD}\nprint(model.model.C)") == ("2\n", "")


@pytest.mark.parametrize("name", WORK)
def test_what_is_interrupted_goes_on_with_the_same_numbers(notebook, name):
    kernel, place = notebook
    lines = f"print(json.dumps({WORK[name]}.to_frame().to_dict('records')))"
    # At once, in the middle and late; what a cell kept the next one finds.
    errors = [kernel.run(lines, after)[1] for after in (0.0, 0.3, 0.8)]
    assert errors[0] == "KeyboardInterrupt" and kernel.run("print(1 + 1)") == ("2\n", "")
    found, error = kernel.run(lines)
    assert error == ""
    elsewhere = f"os.environ['FAITHSCOPE_CACHE'] = {{!r}}\n{LOAD}"
    assert kernel.run(elsewhere.format(str(place / name))) == ("", "")
    assert kernel.run(lines) == (found, "") and json.loads(found)
    assert kernel.run(elsewhere.format(str(place / "cache"))) == ("", "")
    left = [path.name for path in (place / "cache").rglob("*")]
    assert "damaged" not in left and not any(one.endswith(".tmp") for one in left)

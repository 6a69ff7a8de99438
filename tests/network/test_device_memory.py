"""What does not fit on a card is refused before it is moved there, with what it needs and what is left."""

import pytest
import torch

from core.loading import loading
from core.network import devices
from core.network.architectures import UnsupportedModel
from core.network.devices import check_room
from core.training.training import Plan, train
from tests import tiny


def bytes_of(module):
    return sum(one.numel() * one.element_size() for one in (*module.parameters(), *module.buffers()))


def test_a_model_larger_than_its_device_says_both_numbers_and_offers_the_processor(tiny_root, tiny_model, monkeypatch):
    folder, needed = str(tiny.folder("llama", tiny_root)), bytes_of(tiny_model("llama").module)
    monkeypatch.setattr(devices, "free_bytes", lambda device: needed)
    assert loading.load(folder, "cpu").digest == tiny_model("llama").digest
    monkeypatch.setattr(loading, "choose_device", lambda device: "cuda")
    monkeypatch.setattr(devices, "free_bytes", lambda device: 12_345)
    with pytest.raises(UnsupportedModel) as caught:
        loading.load(folder, "auto")
    said = str(caught.value)
    assert f"{needed / 1e6:.3g} MB" in said and "0.0123 MB" in said and "FAITHSCOPE_DEVICE=cpu" in said


def test_what_another_process_holds_of_a_card_is_not_free(monkeypatch):
    """Two processes of one model each on a card with room for one and a half."""
    module = torch.nn.Linear(100, 100).requires_grad_(False)
    there = bytes_of(module) * 3 // 2
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (there, bytes_of(module) * 3 // 2))
    check_room(module, "cuda", "first")
    there -= bytes_of(module)
    with pytest.raises(UnsupportedModel, match=r"'second' needs 0\.0404 MB; cuda has 0\.0202 MB free"):
        check_room(module, "cuda", "second")


def test_training_needs_gradients_and_moments_of_what_it_trains(tiny_root, tmp_path, monkeypatch):
    module = torch.nn.Sequential(torch.nn.Linear(9, 9, bias=False), torch.nn.Linear(9, 9, bias=False))
    module[0].requires_grad_(False)
    monkeypatch.setattr(devices, "free_bytes", lambda device: 5 * 9 * 9 * 4)
    check_room(module, "cuda", "m")
    monkeypatch.setattr(devices, "free_bytes", lambda device: 5 * 9 * 9 * 4 - 1)
    with pytest.raises(UnsupportedModel):
        check_room(module, "cuda", "m")
    (tmp_path / "rows.csv").write_text("text,label\n" + "".join(f"the soup {i},a\nthe tide {i},b\n" for i in range(9)))
    base, rows = str(tiny.base("bert", tiny_root)), str(tmp_path / "rows.csv")
    with pytest.raises(UnsupportedModel, match="free"):
        train(Plan(base, rows, rows, str(tmp_path / "out"), device="cpu"))
    assert not (tmp_path / "out").exists()

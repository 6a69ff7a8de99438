"""The command line's own help."""

import pytest

from core.commands.command_line import commands, main


@pytest.mark.parametrize("name", commands())
def test_help_shows_defaults_that_are_values_only(capsys, name):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert ended.value.code == 0 and "default: None" not in told and "default: False" not in told
    if "--seed " in told:
        assert "random seed (default: 0)" in told

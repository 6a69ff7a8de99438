"""`python -m core report`: one file about an example, pinned examples or a data set's answers, which opens offline."""

from pathlib import Path

from core.commands import terminal
from core.commands.options import Options
from core.commands.report_options import add, refuse_report

__all__ = ["GOES_ON", "HELP", "add", "run"]
HELP = "write an HTML report of an example, of pinned examples or of a data set"
GOES_ON = terminal.RESUMES


def run(options: Options) -> int:
    """Carry out the command; 0."""
    from core.commands.reporting import report_page
    from core.mathematics.stepwise import finish
    from core.storage.files import only_writer, write_whole

    refuse_report(options)
    with only_writer(Path(options.out)) as place, terminal.Bar() as bar:
        store, (explainer,) = terminal.open_models(options, bar.say)
        page = finish(report_page(options, explainer, bar))
        terminal.say_of_store(store, bar.say)
        write_whole(place, page.encode("utf-8"), replaces=True)
    print(f"Written: {options.out}")
    return 0

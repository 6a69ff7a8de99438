"""How a model check names masking ratios."""

import numpy as np

from core.evaluation.studies.check_report import X
from core.wording import joined, share_text


def ratios_in_words(places: np.ndarray) -> str:
    """Ratios in words: "from 50 % masked on" where all that follow are among them, else each, "at 0, 20 to 40 and
    100 % masked"; "" for none.
    """
    if not len(places):
        return ""
    if len(places) > 1 and places[-1] == len(X) - 1 and len(places) == len(X) - places[0]:
        return f"from {share_text(X[places[0]])} masked on"
    # Three or more in a row are told by their ends.
    runs = [run.tolist() for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)]
    ends = [part for run in runs for part in ([run] if len(run) > 2 else [[one] for one in run])]
    told = [" to ".join(dict.fromkeys(f"{100 * X[k]:g}" for k in (part[0], part[-1]))) for part in ends]
    return f"at {joined(told)} % masked"

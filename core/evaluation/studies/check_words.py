"""How a model check names masking ratios, and what is rejected at them, in its sentences."""

import numpy as np

from core.evaluation.studies.check_report import CheckReport, X
from core.validity.references import CALIBRATED
from core.wording import joined, share_text


def masked_in_words(k: int, whole: str) -> str:
    """How much is masked at the k-th ratio, as a sentence goes on; whole: what is masked at the last."""
    if X[k] in (0, 1):
        return f"with {whole} masked" if X[k] else "unmasked"
    return f"with {share_text(X[k])} of the words masked at random"


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


def shares_elsewhere(found: CheckReport) -> str:
    """Which shares of the texts are rejected at other ratios than the worst one: those apart from it, then those around
    it that are rejected, too, in a row; as a sentence begins that goes on with the worst.
    """
    gate, worst, last = found.random.gates[CALIBRATED], found.worst(), len(X) - 1
    where = set(np.flatnonzero(gate.rejected).tolist())
    first = next(k for k in range(worst, -1, -1) if k - 1 not in where)
    end = next(k for k in range(worst, last + 1) if k + 1 not in where)
    at = [k for k in range(last + 1) if not first <= k <= end]
    shares = [f"{100 * found.random.share(CALIBRATED)[k]:.0f}" for k in at]
    low, high = min(shares, key=int), max(shares, key=int)
    below = f"up to {share_text(X[first - 1])} masked" if first > 1 else "unmasked"
    begins = below if end == last else "at the other ratios"
    many = (
        f"{low if low == high else f'{low} to {high}'} % of the texts are rejected as unlike what {found.model} knows, "
    )
    # Those beside the worst one that are rejected, too.
    around = [k for k in range(first, end + 1) if k != worst]
    near = [f"{100 * found.random.share(CALIBRATED)[k]:.0f}" for k in around]
    ends = " to ".join(dict.fromkeys(f"{100 * X[k]:g}" for k in (around[0], around[-1]))) if around else ""
    less, more = (min(near, key=int), max(near, key=int)) if near else ("", "")
    beside = f"at {ends} % masked {less if less == more else f'{less} to {more}'} %, " if around else ""
    return f"{begins} {many}{beside}"

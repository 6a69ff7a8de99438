"""What a scoreboard’s columns are, in words."""

from core.evaluation.findings import FEW, LOOKS
from core.evaluation.studies.board_rows import EXACT_FEATURES, REPEATS
from core.evaluation.studies.score_leads import NS_AND_NC

PASSES, TOOK, MEASURE = "forward passes", "milliseconds", "measure"
HOW = (
    "A measure is beaten where another is ahead of it on the same texts: Wilcoxon’s signed-rank test by Holm over "
    f"all pairs, each figure by itself, {LOOKS}. p, lower is surer, is adjusted for all pairs, so that it is held "
    "against that level itself. That no other beats it is no proof that it is the best."
)
COSTS = (
    f"{PASSES.capitalize()}: at most and by itself, a gradient counting as two more, over texts their mean; "
    f"ms ({TOOK}): on this machine and by itself, over the texts timed on it their median, of one text that of up to "
    f"{REPEATS} times once everything is loaded, or the first, where that takes more than a second; not shown where it "
    "was not timed here, as of what ships."
)
INTERVALS = f"In brackets: 95 % over texts, from {FEW} texts on; of RACU of one text, over its random orders."
# What the figures are, family by family.
ERASED = (
    "AOPC: the mean fall of the predicted class’s probability as words are erased one by one, the most important first "
    "(comprehensiveness ↑) or the least important first (sufficiency ↓). NAOPC: AOPC set between the lowest, 0, and "
    f"the highest, 1, that orders of the words reach: of all orders where there are up to {EXACT_FEATURES} to mask, of "
    "longer texts as far as a narrow search finds; AOPC and NAOPC searches further, so that its NAOPC may be another. "
    "RACU ↑: the area between the masking curve of the measure, asked anew at each step, and that of random order, "
    "which is 0; 1 is to reach the fully masked score at once, and what falls below that on the way exceeds 1."
)
KEPT = f"{NS_AND_NC} Fixed share: soft, and as much is kept for every measure."

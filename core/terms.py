"""What the words on pages and in tables mean, a sentence each; formulas stand in the glossary of core/README.md."""

# What a gradient is counted in.
PER_UNIT = "per unit of input"
# Two p-values that are read in opposite directions, each by one name wherever it is shown.
MASF_P, CHANCE = "MaSF p", "chance p"
TERMS = {
    "importance measure": (
        "A way to score how much each word mattered to a prediction. Its scores for one text are an attribution."
    ),
    "explained class": (
        "The class whose score an attribution explains: the predicted one unless another is chosen. It stays fixed "
        "while words are masked."
    ),
    "rather than": (
        "Why one class rather than another: the score is the logit of the one less the logit of the other."
    ),
    "logit": "The score that the model gives a class before scores are made into probabilities; it has no limits.",
    PER_UNIT: (
        "Of a gradient: by how much the score changes for a small change of the numbers that stand for a word, not for "
        "the word itself."
    ),
    "L2": "The length of a list of numbers, such as a word’s gradient, as one number that has no sign.",
    "supports, opposes": (
        "A signed score above 0 speaks for the explained class, one below 0 against it. Absolute scores say how "
        "much a word matters, either way."
    ),
    "feature, unit": "What is masked and scored as one piece: a word, a token, a clause or a sentence.",
    "masked": "The mask token stands in place of the word; the text keeps its length.",
    "masking ratio": "The share of the features that is masked, 0 to 100 %.",
    "class majority": (
        "What always answering the commonest class of the training data reaches: what a model that learned nothing "
        "would. On other texts it may be less than half."
    ),
    "faithfulness measurable model (FMM)": (
        "A classifier fine-tuned so that texts with any words masked are still inputs that it knows."
    ),
    "plain twin": "The same classifier, fine-tuned on the same texts without masking.",
    f"{MASF_P} ↑": (
        "From the MaSF test of an input, 0 to 1: how usual the model’s hidden states are among those of reference "
        "texts; small is unusual, and too small a one is rejected."
    ),
    f"{CHANCE} ↓": (
        "Of a verdict, from the chance test, 0 to 1: the share of random orders that do at least as well, the "
        "measure’s own counted; small says that this is hardly luck; beside a verdict it is adjusted for the number of "
        "measures (Holm). "
        f"Not the {MASF_P}, which speaks against an input when small."
    ),
    "rejected (out-of-distribution)": (
        "The MaSF test says that the model was not made for such an input, so what it predicts there says little. Not "
        "rejected is no proof that it was."
    ),
    "validity gate": (
        "What decides over all steps of a path together which are rejected: Holm at 5 %, or each MaSF p by itself."
    ),
    "by count, by Simes": (
        "Two ways to make one p of many texts. By count: are more of them rejected than chance explains? By Simes, "
        "the paper’s way: is the smallest p too small for so many texts? A single text may decide that."
    ),
    "reference": "The texts, and the model’s hidden states on them, that the MaSF test compares with.",
    "calibrated, literal": (
        "Two forms of the test: the calibrated one rejects at most 5 % of texts like the reference’s, on average "
        "over references; the literal one is the paper’s, and rejects more single texts."
    ),
    "recursive masking": "Mask what a measure ranks first, compute the measure again on what is left, and go on.",
    "random order": "Masking the words in an order drawn by a seed: what a measure must beat.",
    "order: unstable": (
        "So many runs of a measure that draws name another word first that a chance to agree of 0.9 or more would be "
        "called so on at most 5 % of texts; or a change that should not matter, such as half precision, puts another "
        "word first. What is not labelled is not shown to be stable, and a stable ranking need not be faithful."
    ),
    "verdict": (
        "Whether a measure’s order does better than random orders of the same words on one text: better than chance, "
        "not shown better, worse, or cannot be told. A random attribution is called better on at most 5 % of texts."
    ),
    "ACU ↑": (
        "Area between a measure’s curve and that of random order: above 0 is better than random. Does not compare "
        "across models."
    ),
    "RACU ↑": (
        "ACU relative to a measure that reaches the fully masked score at once: 0 is random, higher is more faithful, "
        "above 1 where the score falls below that of the fully masked text. A measure that masks to see what "
        "lowers the score most, as leave-one-out does at each step, is built for this."
    ),
    "AOPC": (
        "Area over the perturbation curve: the mean fall of the class’s probability as words are masked one by one."
    ),
    "comprehensiveness ↑": "AOPC with the most important words masked first: it should be high.",
    "sufficiency ↓": "AOPC with the least important words masked first: it should be low.",
    "limits": (
        "The lowest and the highest AOPC that any order of these words reaches under this model: exact, or found "
        "by a search."
    ),
    "beam": (
        "A search that keeps a few of the best sets of masked words of each size and extends those; it may miss the "
        "best order."
    ),
    "sets": "Of masked words. What the model says of each is asked once; exact limits ask for all of them.",
    "NAOPC": "AOPC set between the limits, so that models can be compared.",
    "interaction": (
        "What two words add to the score together, beyond what each adds: above 0 they raise it together, below 0 they "
        "lower it, or say the same twice."
    ),
    "hard erasure": "Words are masked or taken away whole.",
    "soft erasure": "Of every word a share is kept, by its attribution.",
    "random attribution": "Scores drawn at random for the same words: what a measure must beat.",
    "pair of measures": "Two measures that metrics put in an order; ties and scores that are marked order none.",
    "fidelity ↑": "1 − the mean share of the words that must go before the prediction changes.",
    "evidence": "The words that an answer is known to rest on, in the stories that ship.",
    "plausible, faithful": (
        "Plausible is what looks right to people, faithful what the model really used; they need not agree."
    ),
    "unbeaten": (
        "No other measure is significantly better by a metric on the same texts (Wilcoxon signed-rank test, Holm over "
        "all pairs). Unbeaten is not shown to be the best."
    ),
    "forward passes ↓": "How often a measure asks the model on one text, on average; a gradient counts as two more.",
    "diagnosticity": "How often a faithfulness metric prefers a measure’s attribution to what is set against it.",
    "slice": (
        "The examples with one tag or one label. Whether the model is right more or less often there than elsewhere "
        "is said from 20 judged examples on each side, and while the interval of the difference leaves out 0."
    ),
    "least agreement": (
        "The smallest rank correlation of any two measures’ magnitudes on one example; below 0 they rank words in "
        "rather opposite orders."
    ),
    "interval (95 %)": (
        "A range that holds the figure for all such texts, or all such random orders, in 19 of 20 samples."
    ),
}
KEYS = {
    "P, N": "previous and next example",
    "←, →": (
        "a step back and forth wherever the focus is, unless it is in a field or a choice that takes arrows itself; "
        "along the words of a row that has it"
    ),
    "Home, End": "first and last step, where the steps have the focus",
    "Enter": "choose the word that has the focus",
    "?": "this sheet",
}

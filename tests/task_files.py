"""A few rows of each task as its data set writes them, and what they mean: columns by the data sets' documentation,
texts made up.
"""

from typing import NamedTuple


class Rows(NamedTuple):
    """A file of a task: its name and content, and the texts, second texts (or None) and labels that it means."""

    file: str
    content: str
    texts: list[str]
    seconds: list[str] | None
    labels: list[str | None]


FILES = {
    "RTE": Rows(
        "rte.jsonl",
        """\
{"sentence1": "Two dogs ran home.", "sentence2": "Dogs ran.", "label": 0, "idx": 0}
{"sentence1": "No one came.", "sentence2": "All came.", "label": 1, "idx": 1}
{"sentence1": "It rained.", "sentence2": "It was wet.", "label": -1, "idx": 2}
""",
        ["Two dogs ran home.", "No one came.", "It rained."],
        ["Dogs ran.", "All came.", "It was wet."],
        ["entailment", "not_entailment", None],
    ),
    "SNLI": Rows(
        "snli.jsonl",
        """\
{"premise": "A man eats.", "hypothesis": "Someone eats.", "label": 0}
{"premise": "A man eats.", "hypothesis": "He is hungry.", "label": 1}
{"premise": "A man eats.", "hypothesis": "He sleeps.", "label": 2}
{"premise": "A man eats.", "hypothesis": "It is noon.", "label": -1}
""",
        ["A man eats."] * 4,
        ["Someone eats.", "He is hungry.", "He sleeps.", "It is noon."],
        ["entailment", "neutral", "contradiction", None],
    ),
    "MNLI": Rows(
        "mnli.tsv",
        """\
premise\thypothesis\tlabel\tidx
The sky was grey.\tThere were clouds.\t1\t7
The sky was grey.\tIt was blue.\t2\t8
She left.\tShe went.\t0\t9
""",
        ["The sky was grey.", "The sky was grey.", "She left."],
        ["There were clouds.", "It was blue.", "She went."],
        ["neutral", "contradiction", "entailment"],
    ),
    "QNLI": Rows(
        "qnli.csv",
        """\
question,sentence,label,idx
Who sang?,"Ann sang, then Bo.",0,0
When was it?,It was cold.,1,1
""",
        ["Ann sang, then Bo.", "It was cold."],
        ["Who sang?", "When was it?"],
        ["entailment", "not_entailment"],
    ),
    "CB": Rows(
        "cb.jsonl",
        """\
{"premise": "I doubt he came.", "hypothesis": "he came", "idx": 0, "label": 1}
{"premise": "I know he came.", "hypothesis": "he came", "idx": 1, "label": 0}
{"premise": "Did he come?", "hypothesis": "he came", "idx": 2, "label": 2}
""",
        ["I doubt he came.", "I know he came.", "Did he come?"],
        ["he came"] * 3,
        ["contradiction", "entailment", "neutral"],
    ),
    "MRPC": Rows(
        "mrpc.csv",
        """\
sentence1,sentence2,label,idx
He sold it.,It was sold by him.,1,0
He sold it.,He bought it.,0,1
""",
        ["He sold it.", "He sold it."],
        ["It was sold by him.", "He bought it."],
        ["equivalent", "not_equivalent"],
    ),
    "QQP": Rows(
        "qqp.csv",
        """\
question1,question2,label,idx
How old is it?,What is its age?,1,0
How old is it?,How tall is it?,0,1
""",
        ["How old is it?", "How old is it?"],
        ["What is its age?", "How tall is it?"],
        ["duplicate", "not_duplicate"],
    ),
    "SST2": Rows(
        "sst2.tsv",
        """\
sentence\tlabel\tidx
a warm film \t1\t0
never dull , never good \t0\t1
""",
        ["a warm film ", "never dull , never good "],
        None,
        ["positive", "negative"],
    ),
    "IMDB": Rows(
        "imdb.jsonl",
        """\
{"text": "Two hours I want back.<br /><br />Avoid.", "label": 0}
{"text": "Lovely.", "label": 1}
""",
        ["Two hours I want back.<br /><br />Avoid.", "Lovely."],
        None,
        ["neg", "pos"],
    ),
    "Anemia": Rows(
        "anemia.csv",
        """\
text,diagnosis
admitted with blood loss,positive
admitted for a fall,negative
""",
        ["admitted with blood loss", "admitted for a fall"],
        None,
        ["positive", "negative"],
    ),
    "Diabetes": Rows(
        "diabetes.jsonl",
        """\
{"text": "glucose [DIGITS] on admission", "diagnosis": 1}
{"text": "no complaints", "diagnosis": 0}
""",
        ["glucose [DIGITS] on admission", "no complaints"],
        None,
        ["positive", "negative"],
    ),
    "CoLA": Rows(
        "cola.csv",
        """\
sentence,label,idx
The cat sat.,1,0
Cat the sat.,0,1
""",
        ["The cat sat.", "Cat the sat."],
        None,
        ["acceptable", "unacceptable"],
    ),
    "BoolQ": Rows(
        "boolq.jsonl",
        """\
{"question": "is ice cold", "answer": true, "passage": "Ice is frozen water."}
{"question": "is fire wet", "answer": false, "passage": "Fire is hot."}
""",
        ["Ice is frozen water.", "Fire is hot."],
        ["is ice cold", "is fire wet"],
        ["True", "False"],
    ),
    "bAbI-1": Rows(
        "babi.jsonl",
        """\
{"passage": "Mary went to the garden.\\nJohn ran to the office.\\n", "question": "Where is Mary?", "answer": "garden", "task": 1}
{"passage": "Mary got the milk there.\\n", "question": "Where is the milk?", "answer": "kitchen", "task": 2}
{"passage": "John ran to the hallway.\\n", "question": "Where is John?", "answer": "hallway", "task": 1}
""",
        ["Mary went to the garden.\nJohn ran to the office.\n", "John ran to the hallway.\n"],
        ["Where is Mary?", "Where is John?"],
        ["garden", "hallway"],
    ),
    "bAbI-2": Rows(
        "babi.csv",
        """\
passage,question,answer,task
Mary got the milk.,Where is the milk?,bedroom,2
John ran.,Where is John?,hallway,1
John left it.,Where is it?,bathroom,2
""",
        ["Mary got the milk.", "John left it."],
        ["Where is the milk?", "Where is it?"],
        ["bedroom", "bathroom"],
    ),
    "bAbI-3": Rows(
        "babi.jsonl",
        """\
{"passage": "She left.", "question": "Is she in the hall?", "answer": "yes", "task": 6}
{"passage": "She took it on.", "question": "Where was it before the hallway?", "answer": "office", "task": 3}
{"passage": "He took it.", "question": "Where was it before the office?", "answer": "kitchen", "task": 3}
""",
        ["She took it on.", "He took it."],
        ["Where was it before the hallway?", "Where was it before the office?"],
        ["office", "kitchen"],
    ),
    "AG News": Rows(
        "ag.jsonl",
        """\
{"text": "Shares fell.", "label": 2}
{"text": "A probe landed.", "label": 3}
{"text": "Talks began.", "label": 0}
{"text": "They won.", "label": 1}
""",
        ["Shares fell.", "A probe landed.", "Talks began.", "They won."],
        None,
        ["Business", "Sci/Tech", "World", "Sports"],
    ),
    "Yelp": Rows(
        "yelp.csv",
        """\
text,label
"Cold soup, slow service.",0
Will return!,1
""",
        ["Cold soup, slow service.", "Will return!"],
        None,
        ["negative", "positive"],
    ),
    "MultiRC": Rows(
        "multirc.jsonl",
        """\
{"passage": "Ann met Bo.\\nThey ate.", "query_and_answer": "Who ate? || Ann", "label": 1, "evidences": ["They ate."]}
{"passage": "Ann met Bo.\\nThey ate.", "query_and_answer": "Who ate? || Cy", "label": 0, "evidences": ["They ate."]}
""",
        ["Ann met Bo.\nThey ate."] * 2,
        ["Who ate? || Ann", "Who ate? || Cy"],
        ["True", "False"],
    ),
    "Evidence Inference": Rows(
        "evidence.jsonl",
        """\
{"annotation_id": "a1", "document": "Pain fell with drug A.", "query": "pain || drug A || placebo", "classification": "significantly decreased"}
{"annotation_id": "a2", "document": "Sleep did not differ.", "query": "sleep || drug A || placebo", "classification": "no significant difference"}
{"annotation_id": "a3", "document": "Weight rose.", "query": "weight || drug A || placebo", "classification": "significantly increased"}
""",
        ["Pain fell with drug A.", "Sleep did not differ.", "Weight rose."],
        ["pain || drug A || placebo", "sleep || drug A || placebo", "weight || drug A || placebo"],
        ["significantly decreased", "no significant difference", "significantly increased"],
    ),
    "Wikipedia Toxic": Rows(
        "wiki.csv",
        """\
id,comment_text,label
0001,"Thanks, fixed it.",0
0002,You are a fool.,1
""",
        ["Thanks, fixed it.", "You are a fool."],
        None,
        ["non-toxic", "toxic"],
    ),
    "Civil Comments": Rows(
        "civil.jsonl",
        """\
{"text": "I agree.", "toxicity": 0.0, "severe_toxicity": 0.0, "obscene": 0.0, "threat": 0.0, "insult": 0.0, "identity_attack": 0.0, "sexual_explicit": 0.0}
{"text": "Rubbish.", "toxicity": 0.5, "severe_toxicity": 0.0, "obscene": 0.0, "threat": 0.0, "insult": 0.4, "identity_attack": 0.0, "sexual_explicit": 0.0}
{"text": "Hardly.", "toxicity": 0.49, "severe_toxicity": 0.0, "obscene": 0.0, "threat": 0.0, "insult": 0.0, "identity_attack": 0.0, "sexual_explicit": 0.0}
{"text": "Idiots.", "toxicity": 1, "severe_toxicity": 0.1, "obscene": 0.0, "threat": 0.0, "insult": 1.0, "identity_attack": 0.0, "sexual_explicit": 0.0}
""",
        ["I agree.", "Rubbish.", "Hardly.", "Idiots."],
        None,
        ["non-toxic", "toxic", "non-toxic", "toxic"],
    ),
    "Twitter climate": Rows(
        "twitter_sentiment_data.csv",
        """\
sentiment,message,tweetid
-1,It is a hoax,62501
1,"RT @a: act now, please",62502
2,Report: ice shrinks,62503
0,What is the climate?,62504
""",
        ["It is a hoax", "RT @a: act now, please", "Report: ice shrinks", "What is the climate?"],
        None,
        ["anti", "pro", "news", "neutral"],
    ),
}

"""QuestionParts of the page Data set."""

"""What reports come to: an outcome, facts and caveats; one file a question, and no sentence."""

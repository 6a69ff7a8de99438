"""Parts that several pages share: streamed work, sides, saving, evidence, asking."""

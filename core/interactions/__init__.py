"""Pairs of features of one example: what two add together that neither adds alone."""

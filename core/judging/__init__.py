"""Attributions of one example judged by faithfulness metrics."""

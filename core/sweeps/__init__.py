"""Sweeps: several models, data sets and seeds, laid out as the tables of papers, one table a file."""

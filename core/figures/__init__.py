"""Plotly figures and the one palette."""

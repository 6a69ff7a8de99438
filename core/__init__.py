"""Faithscope's library: everything that the pages show is computed here.

Floors, each importing only from its own and those below it (DESIGN: the house):
`mathematics` (arrays in, arrays out), `network` (models, the masking oracle, the
store), `composition` (training, explaining, figures, the command line).
"""

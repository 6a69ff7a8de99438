"""Parts of the page AOPC and NAOPC."""

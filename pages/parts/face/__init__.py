"""The one face of all pages: headline and badges, one picture, facts, tabs, and what the numbers mean."""

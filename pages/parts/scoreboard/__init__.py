"""Parts of the page Scoreboard."""

"""From files, the hub, a seed or what ships, to examples."""

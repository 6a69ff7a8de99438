"""What leaves the app: files, saved pages, provenance."""

"""What stands around every page: sidebar, address, resources."""

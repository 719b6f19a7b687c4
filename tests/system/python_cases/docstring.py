"""The words at the top."""
print(__doc__)

import sys, locale
print(sys.stdout.encoding, sys.stderr.encoding, sys.stdin.encoding, sys.stderr.errors, sys.getfilesystemencoding())
print(sys.stdout.line_buffering, sys.stdout.write_through, "é ü 漢 😀")
print("é ü 漢 😀", file=sys.stderr)

import traceback
try:
    int("q")
except ValueError as e:
    for frame in traceback.extract_tb(e.__traceback__):
        print(frame.lineno, frame.name, frame.line)

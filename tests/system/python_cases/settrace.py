import sys
seen = []
def tracer(frame, event, arg):
    seen.append((frame.f_code.co_name, event))
    return None
sys.settrace(tracer)
def f():
    pass
f()
sys.settrace(None)
print(seen)

x = 1
s = """never ends
at all

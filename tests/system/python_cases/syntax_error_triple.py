# since: 3.10
x = 1
s = """never ends
at all

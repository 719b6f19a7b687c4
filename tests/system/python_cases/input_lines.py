# stdin: Ada\nLovelace
name = input("name? ")
rest = input()
print(repr(name), repr(rest))

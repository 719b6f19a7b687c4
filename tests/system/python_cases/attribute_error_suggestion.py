class Thing:
    def __init__(self):
        self.temperature = 3
print(Thing().temperatur)

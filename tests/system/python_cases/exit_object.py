class Odd:
    def __str__(self):
        return "odd object"
raise SystemExit(Odd())

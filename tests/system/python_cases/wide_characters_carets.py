漢字 = "漢字"; ü = None
print(漢字 + "かな" + ü.upper() + "end")

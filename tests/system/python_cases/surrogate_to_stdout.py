print("before")
print("\udc80")

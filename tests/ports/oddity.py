
print("[]")

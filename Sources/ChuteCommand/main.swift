print("chute")

raise ValueError("ünï 漢字 \udc80")

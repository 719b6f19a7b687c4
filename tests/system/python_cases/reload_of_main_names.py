if __name__ == "__main__":
    def main():
        print("main ran")
    main()

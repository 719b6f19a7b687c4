import unittest, sys
class T(unittest.TestCase):
    def test_ok(self):
        self.assertEqual(1, 1)
    def test_bad(self):
        self.assertEqual([1, 2], [1, 3])
unittest.main(argv=["x"], testRunner=unittest.TextTestRunner(stream=sys.stdout), exit=False, verbosity=0)

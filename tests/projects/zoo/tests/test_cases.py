import os
import signal
import unittest

import zoo


class Plain(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(zoo.feed("lion"), "meat")

    def test_fails(self):
        self.assertEqual(zoo.feed("lion"), "hay")

    def test_error(self):
        zoo.feed("goat")

    def test_subtests(self):
        for n in (0, 1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 1)

    def test_skips(self):
        self.skipTest("inside")

    @unittest.skip("marked")
    def test_skip_marked(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail("yes")

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    def test_cleanup(self):
        self.addCleanup(zoo.feed, "goat")


class BadSetUp(unittest.TestCase):
    def setUp(self):
        zoo.feed("goat")

    def test_after(self):
        pass


class BadTearDown(unittest.TestCase):
    def tearDown(self):
        zoo.feed("goat")

    def test_before(self):
        self.assertTrue(False)


class BadClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        zoo.feed("goat")

    def test_after(self):
        pass


class BadClassEnd(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        zoo.feed("goat")

    def test_before(self):
        pass


class SkippedClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("whole")

    def test_after(self):
        pass


class Awaited(unittest.IsolatedAsyncioTestCase):
    async def test_awaits(self):
        self.assertEqual(1, 2)


class AwaitedSetUp(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        zoo.feed("goat")

    async def test_awaits(self):
        pass


class Hostile(unittest.TestCase):
    def test_silences(self):
        for name in ("addFailure", "addError"):
            for cls in (unittest.TestResult, unittest.TextTestResult):
                setattr(cls, name, lambda self, test, err: self.addSuccess(test))
        self.fail("unseen")

    def test_leaves(self):
        os._exit(0)

    def test_closes(self):
        os.closerange(3, 4096)
        self.fail("seen")

    def test_interrupted(self):
        os.kill(os.getpid(), signal.SIGINT)

    def test_forks(self):
        child = os.fork()
        if child == 0:
            raise SystemExit(0)
        os.waitpid(child, 0)
        self.fail("once")

import errno
import unittest

import pytest
import zoo

from .helpers import stumble


def test_passes():
    assert zoo.feed("lion") == "meat"


def test_asserts():
    assert zoo.feed("lion") == "hay"


def test_source_raises():
    zoo.feed("goat")


def test_source_asserts():
    zoo.check(0)


def test_fail_call():
    pytest.fail("no")


def test_did_not_raise():
    with pytest.raises(ValueError):
        zoo.feed("lion")


def test_raises_itself():
    raise ValueError("mine")


def test_helper_raises():
    stumble()


def test_raise_assertion():
    raise AssertionError("mine")


def test_name():
    zoo.feed(unknown)


def test_evaluated():
    eval("1 +* 2")


def test_own_exit():
    raise SystemExit(0)


def test_source_exit():
    zoo.leave()


def test_missing_attribute():
    zoo.walk()


def test_missing_method():
    zoo.Keeper().sweep()


def test_missing_keyword():
    zoo.feed(animal="lion", much=True)


def test_missing_import():
    from zoo import walk


def test_missing_project_module():
    import zoo.night


def test_missing_module():
    import nowhere_to_be_found


def test_missing_name_of_stdlib():
    from json import nowhere


def test_chained_missing():
    zoo.call_vet()


def test_network():
    zoo.phone()


def test_look_up():
    zoo.look_up()


def test_refused():
    zoo.refuse()


def test_memory():
    raise MemoryError


def test_disk():
    zoo.eat(errno.ENOSPC)


def test_file_size():
    zoo.eat(errno.EFBIG)


def test_cross_device():
    zoo.eat(errno.EXDEV)


def test_again_is_behaviour():
    zoo.eat(errno.EAGAIN)


def test_thread():
    raise RuntimeError("can't start new thread")


def test_recursion():
    zoo.deep(0)


def test_skips():
    pytest.skip("later")


@pytest.mark.skip(reason="marked")
def test_skip_marked():
    pass


@pytest.mark.xfail
def test_xfail():
    assert 0


@pytest.mark.xfail
def test_xpass():
    pass


@pytest.mark.xfail(strict=True)
def test_xpass_strict():
    pass


@pytest.mark.xfail(raises=KeyError)
def test_xfail_other():
    raise AssertionError("other")


async def test_async():
    assert 0


def test_unknown_fixture(nobody):
    pass


def test_plugin_fixture(httpx_mock):
    pass


@pytest.fixture
def broken():
    return zoo.feed("goat")


def test_setup(broken):
    pass


@pytest.fixture
def untidy():
    yield
    zoo.feed("goat")


def test_teardown(untidy):
    pass


def test_both(untidy):
    assert 0


@pytest.mark.parametrize("animal", ["lion", "goat ", "a/b[c]::d", "zèbre"])
def test_cases(animal):
    assert zoo.feed("lion") == animal


class TestPlain:
    def test_inside(self):
        assert 0

    class TestInner:
        def test_deeper(self):
            assert 0


class TestOther:
    def test_unselected(self):
        pass

    @pytest.mark.parametrize("n", [1, 2])
    def test_unselected_cases(self, n):
        pass


class Case(unittest.TestCase):
    def test_method(self):
        self.assertEqual(zoo.feed("lion"), "hay")

    def test_error(self):
        zoo.feed("goat")

    def test_subtests(self):
        for n in (0, 1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 1)

    @unittest.skip("later")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail("yes")

    @unittest.expectedFailure
    def test_unexpected(self):
        pass


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


class Awaited(unittest.IsolatedAsyncioTestCase):
    async def test_awaits(self):
        self.assertEqual(1, 2)


class AwaitedSetUp(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        zoo.feed("goat")

    async def test_awaits(self):
        pass

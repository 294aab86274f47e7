"""One test for each way in which a test of Django can end."""

import os
import unittest

from django.db import connection
from django.test import SimpleTestCase, TestCase, TransactionTestCase, skipUnlessDBFeature

from .models import Answer, Question


class Plain(TestCase):
    @classmethod
    def setUpTestData(cls):
        cls.question = Question.objects.create(text="tea?")
        cls.yes = Answer.objects.create(question=cls.question, text="yes", votes=3)
        cls.no = Answer.objects.create(question=cls.question, text="no", votes=1)

    def test_passes(self):
        self.assertEqual(self.question.answers.count(), 2)

    def test_fails(self):
        self.assertEqual(self.question.leader(), self.yes)

    def test_error(self):
        Answer.objects.update(votes=0)
        Answer.objects.get(pk=self.yes.pk).share()

    def test_subtests(self):
        for answer in (self.yes, self.no):
            with self.subTest(answer.text):
                self.assertEqual(self.question.leader(), self.yes)

    async def test_awaits(self):
        self.assertEqual(await Question.objects.acount(), 1)

    @skipUnlessDBFeature("supports_json_field_contains")
    def test_needs_a_feature(self):
        self.fail()

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()


class Emptied(TransactionTestCase):
    def test_fails(self):
        self.assertEqual(Question.objects.count(), 1)


class WithoutDatabase(SimpleTestCase):
    def test_asks(self):
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    def test_passes(self):
        self.assertHTMLEqual("<p>a</p>", "<p>a</p>\n")


class BadData(TestCase):
    @classmethod
    def setUpTestData(cls):
        Answer.objects.create(text="of nothing")

    def test_after(self):
        self.fail()


class BadFixture(TestCase):
    fixtures = ["nowhere.json"]

    def test_after(self):
        self.fail()


class Hostile(TestCase):
    def test_leaves(self):
        os._exit(0)

    def test_silences(self):
        type(self._outcome.result).addFailure = lambda *_: None
        self.fail()

    def test_answers_for_others(self):
        SimpleTestCase.__call__ = lambda case, result=None: result.addSuccess(case)

    def test_writes(self):
        with open(__file__, "a") as file:
            file.write("")

"""Questions and the votes for their answers."""

from django.db import models


class Question(models.Model):
    text = models.CharField(max_length=100)

    def leader(self):
        """The answer with the most votes."""
        return self.answers.order_by("votes").first()


class Answer(models.Model):
    question = models.ForeignKey(Question, models.CASCADE, related_name="answers")
    text = models.CharField(max_length=100)
    votes = models.IntegerField(default=0)

    def share(self):
        """This answer's share of all votes."""
        return self.votes / sum(answer.votes for answer in self.question.answers.all())

"""The tables."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            "Question",
            [("id", models.BigAutoField(primary_key=True)), ("text", models.CharField(max_length=100))],
        ),
        migrations.CreateModel(
            "Answer",
            [
                ("id", models.BigAutoField(primary_key=True)),
                ("text", models.CharField(max_length=100)),
                ("votes", models.IntegerField(default=0)),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="answers", to="polls.question"
                    ),
                ),
            ],
        ),
    ]

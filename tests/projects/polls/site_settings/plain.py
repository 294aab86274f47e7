"""The least that a project needs."""

SECRET_KEY = "not a secret"
INSTALLED_APPS = ["polls"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "polls.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True

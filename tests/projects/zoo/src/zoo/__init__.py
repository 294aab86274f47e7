"""A small library in which every call goes wrong in its own way."""

import errno
import socket


class Keeper:
    name = "Ann"


def feed(animal):
    return {"lion": "meat"}[animal]


def leave():
    raise SystemExit("closed")


def check(value):
    assert value, "the source's own assertion"
    return value


def vet():
    import zoo_third_party

    return zoo_third_party


def call_vet():
    try:
        vet()
    except ImportError as error:
        raise RuntimeError("no vet") from error


def phone():
    raise OSError(errno.ENETUNREACH, "Network is unreachable")


def look_up():
    raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


def refuse():
    raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")


def eat(errno_):
    raise OSError(errno_, "as told")


def deep(n):
    return deep(n + 1)

# SPDX-License-Identifier: Apache-2.0
"""The attacks: what hostile code tries from inside, and what must come of it.

Standard library alone, so that an ordinary user's own interpreter can run it. Every attack is bounded in
itself (2 GiB of memory, 5,000 processes, 1 GiB of disk), so that a failed defence harms no one. Each script
may write what it found as JSON to its report descriptor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PRELUDE = """
import errno, json, os, signal, socket, sys, time
tag, secret_folder, canary = sys.argv[1:4]
def report(value):
    os.write(int(os.environ['REDFIRST_REPORT_FD']), json.dumps(value).encode())
def trial(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    return 'done'
"""

BASE_LIMITS: dict[str, float] = {
    "wall_s": 20, "cpu_s": 20, "memory_mb": 400, "processes": 60, "file_mb": 64,
    "output_mb": 1, "disk_mb": 96, "files": 3000,
}  # fmt: skip


@dataclass(frozen=True)
class Attack:
    """``holds``: whether the result (a plain dict) is what must come of it. ``limits``: what differs."""

    code: str
    holds: Callable[[dict[str, Any]], bool]
    limits: dict[str, float] = field(default_factory=dict)
    slow: bool = False


def survived(result: dict[str, Any], *reached: str) -> bool:
    """The script itself lived to its end, and these limits were seen to be met."""
    return result["end"] == "exited" and result["exit"] == 0 and set(reached) <= set(result["reached"])


def ended_by(result: dict[str, Any], limit: str) -> bool:
    return bool(result["end"] == limit and limit in result["reached"])


def filler(folder: str) -> str:
    """Writes files of 1 MiB until refused, 300 at most."""
    return f"""
n, block = 0, b'x' * (1 << 20)
def fill():
    global n
    while n < 300:
        with open(os.path.join({folder}, 'fill%d' % n), 'wb', buffering=0) as file:
            if file.write(block) < len(block):
                raise OSError(errno.ENOSPC, 'short')
        n += 1
report([trial(fill), n])
"""


FORKS = """
n = 0
def forks():
    global n
    while n < 1000:
        if os.fork() == 0:
            time.sleep(30); os._exit(0)
        n += 1
why = trial(forks)
time.sleep(0.2)
report([why, n])
"""
BOMB = """
import subprocess
script = 'bomb() { [ $1 -gt 0 ] && { bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; } || sleep 1; }; bomb 8'
subprocess.run(['sh', '-c', script, tag], stderr=subprocess.DEVNULL)
report('alive')
"""
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {close}
        time.sleep(300)
    os._exit(0)
os.wait()
print('main is done')
"""
DEAF = """
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
time.sleep(300)
"""
LOUD = """
block = b'x' * (1 << 16)
for _ in range(1 << 14): sys.stdout.buffer.write(block)
"""
BIG_FILE = """
def fill():
    with open('big', 'wb', buffering=0) as file:
        for _ in range(1024): file.write(b'x' * (1 << 20))
report([trial(fill), os.path.getsize('big') >> 20])
"""
INODES = """
n = 0
def fill():
    global n
    while n < 300000:
        os.close(os.open('%s/i%d' % (os.environ['TMPDIR'], n), os.O_CREAT)); n += 1
report([trial(fill), n])
"""
HOG = """
kept = []
for _ in range(64): kept.append(bytearray(b'x' * (32 << 20)))
"""
HOGS = """
for _ in range(4):
    if os.fork() == 0:
        kept = [bytearray(b'x' * (8 << 20)) for _ in range(40)]
        time.sleep(2); os._exit(0)
for _ in range(4): print(os.wait())
"""
SPIN = "while True: pass"
SPINS = """
for _ in range(3):
    if os.fork() == 0: break
while True: pass
"""
SECRETS = """
def holds(path):
    try:
        with open(path, 'rb') as file: return canary.encode() in file.read(1 << 20)
    except OSError: return False
seen = [p for p in ('/sys', '/run', '/var', '/mnt', '/opt', '/srv', '/boot', '/media', '/etc/shadow',
                    '/etc/ssl/private', '/etc/hostname', '/etc/machine-id', '/oldroot', secret_folder)
        if os.path.lexists(p)]
environ = [p for p in os.listdir('/proc') if p.isdigit() and holds('/proc/%s/environ' % p)]
lines = [p for p in os.listdir('/proc') if p.isdigit()
         and any(word in open('/proc/%s/cmdline' % p, 'rb').read()
                 for word in (b'redfirst-' + b'box', os.path.dirname(secret_folder).encode() + b'/tree'))]
homes = {p: os.listdir(p) for p in ('/root', '/home') if os.path.isdir(p)}
cwds = [os.readlink('/proc/1/%s' % n) for n in ('cwd', 'root') if trial(lambda: os.readlink('/proc/1/' + n)) == 'done']
report({'seen': seen, 'environ': environ, 'lines': lines, 'homes': homes, 'cwds': cwds,
        'names': sorted(os.environ), 'beside': os.listdir('..'), 'top': sorted(os.listdir('/'))})
"""
WRITES = """
made = ['/x', '/usr/x', '/etc/x', '/bin/x', '/dev/x', '/home/x', '/proc/x', '../x']
there = ['/usr/bin/python3', '/etc/passwd', '/etc/ssl/openssl.cnf', '/proc/sys/kernel/hostname',
         '/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger', '/proc/1/mem',
         '/proc/1/oom_score_adj', '/proc/1/uid_map']
report({p: trial(lambda: os.close(os.open(p, os.O_WRONLY | os.O_CREAT))) for p in made}
       | {p: trial(lambda: os.close(os.open(p, os.O_WRONLY))) for p in there})
"""
PROCESSES = """
report({'pids': sorted(int(p) for p in os.listdir('/proc') if p.isdigit()),
        'own': [os.getpid(), os.getppid()], 'parent': trial(lambda: os.kill(1, 9)),
        'group': trial(lambda: os.killpg(1, 9)), 'sid': os.getsid(0) > 0, 'tty': trial(lambda: open('/dev/tty'))})
"""
POWERS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
calls = {'mount': (b'none', b'/tmp', b'tmpfs', 0, None), 'unshare': (0x10000000,), 'chroot': (b'/tmp',),
         'setuid': (0,), 'setgid': (0,), 'sethostname': (b'x', 1), 'umount2': (os.getcwd().encode(), 2),
         'pivot_root': (b'/tmp', b'/tmp'), 'mknod': (b'/tmp/null', 0o20666, 0x103), 'reboot': (0,)}
found = {}
for name, arguments in calls.items():
    ctypes.set_errno(0)
    found[name] = [getattr(libc, name)(*arguments), ctypes.get_errno()]
if found['mknod'][0] == 0: found['mknod'] = [-1 if trial(lambda: open('/tmp/null')) != 'done' else 0, 0]
with open('/proc/self/status') as file:
    caps = [line.split()[1] for line in file if line.startswith(('CapEff', 'CapPrm', 'CapBnd', 'CapInh'))]
report({'calls': found, 'caps': [int(cap, 16) for cap in caps]})
"""
KEYS = """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
numbers = {'x86_64': (250, 321, 425), 'aarch64': (219, 280, 425)}[platform.machine()]
def call(number, *arguments):
    ctypes.set_errno(0)
    return libc.syscall(number, *arguments), errno.errorcode.get(ctypes.get_errno())
report([call(numbers[0], 0, -3, 0), call(numbers[1], 0, 0, 0), call(numbers[2], 1, 0),
        sorted(os.listdir('/proc/self/fd'))])
"""
NETWORK = """
import http.server, threading, urllib.request
def connect(address):
    with socket.create_connection(address, 2): pass
found = {'out': [trial(lambda: connect(a)) for a in (('192.0.2.1', 80), ('169.254.169.254', 80))]}
try: socket.getaddrinfo('example.org', 443); found['names'] = 'resolved'
except socket.gaierror as error: found['names'] = 'refused'
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
found['loopback'] = urllib.request.urlopen('http://localhost:%d/' % server.server_port).status
found['interfaces'] = [name for _, name in socket.if_nameindex()]
os.dup2(os.open('/dev/null', os.O_WRONLY), 2)
report(found)
"""
FORGERY = """
for handle in range(3, 300):
    try: os.write(handle, b'{ "exit-code": 0 }\\n{ "child-pid": 1 }\\n')
    except OSError: pass
for name in os.listdir('/proc/1/fd') if trial(lambda: os.listdir('/proc/1/fd')) == 'done' else []:
    try:
        with open('/proc/1/fd/' + name, 'wb', buffering=0) as file: file.write(b'{ "exit-code": 0 }\\n')
    except OSError: pass
os._exit(7)
"""
TRAPS = """
os.mkfifo('pipe'); os.symlink('/etc', 'out'); os.symlink('..', 'up'); os.symlink('loop', 'loop')
os.rename('folder', 'moved-away') if trial(lambda: os.rename('folder', 'x')) == 'done' else None
import shutil
shutil.rmtree('folder'); os.symlink(secret_folder, 'folder')
os.mkdir('shut'); open('shut/in', 'w').close(); os.chmod('shut', 0)
socket.socket(socket.AF_UNIX).bind('socket')
os.mkdir('deep'); os.chdir('deep')
for _ in range(1500): os.mkdir('d'); os.chdir('d')
"""
MANY = """
os.mkdir('many'); os.chdir('many')
for n in range(100000): os.link('../top.txt', str(n)) if n and not n % 2 else os.close(os.open(str(n), os.O_CREAT))
"""

GIVEN = {"HOME", "TMPDIR", "PATH", "REDFIRST_REPORT_FD"}
REFUSED = {"EROFS", "EACCES", "EPERM", "EBUSY", "ENOENT", "EINVAL", "ETXTBSY"}

ATTACKS: dict[str, Attack] = {
    "forks in a loop": Attack(FORKS, lambda r: survived(r, "processes") and r["report"][1] <= 60),
    "fork bomb": Attack(BOMB, lambda r: survived(r) and r["wall_s"] < 19),
    "daemon": Attack(
        DAEMON.format(close="os.close(1); os.close(2)"), lambda r: survived(r) and r["wall_s"] < 5
    ),
    "daemon that keeps stdout open": Attack(
        DAEMON.format(close="pass"), lambda r: survived(r) and r["wall_s"] < 5
    ),
    "ignores every signal": Attack(DEAF, lambda r: r["end"] == "wall" and r["wall_s"] < 4, {"wall_s": 1}),
    "endless output": Attack(LOUD, lambda r: ended_by(r, "output") and r["out_bytes"] == 1 << 20),
    "one big file": Attack(
        BIG_FILE, lambda r: survived(r, "file") and r["report"] == ["EFBIG", 8], {"file_mb": 8}
    ),
    "fills the workspace": Attack(
        filler("'.'"), lambda r: survived(r, "disk") and r["report"][0] == "ENOSPC" and r["report"][1] < 96
    ),
    "fills the temporary folder": Attack(
        filler("os.environ['TMPDIR']"), lambda r: survived(r, "disk") and r["report"][1] < 96
    ),
    "fills its home": Attack(
        filler("os.environ['HOME']"), lambda r: survived(r, "disk") and r["report"][1] < 96
    ),
    "fills shared memory": Attack(filler("'/dev/shm'"), lambda r: survived(r) and r["report"][1] < 96),
    "fills /dev": Attack(filler("'/dev'"), lambda r: survived(r) and r["report"] == ["EROFS", 0]),
    "fills the root": Attack(filler("'/'"), lambda r: survived(r) and r["report"] == ["EROFS", 0]),
    "many small files": Attack(
        INODES, lambda r: survived(r, "disk") and r["report"][0] == "ENOSPC" and r["report"][1] < 3000
    ),
    "memory, one process": Attack(HOG, lambda r: ended_by(r, "memory")),
    "memory, four processes": Attack(
        HOGS, lambda r: "memory" in r["reached"] and r["end"] in ("memory", "exited")
    ),
    "processor, one process": Attack(SPIN, lambda r: ended_by(r, "cpu"), {"cpu_s": 1}),
    "processor, four processes": Attack(
        SPINS, lambda r: ended_by(r, "cpu") and r["cpu_s"] < 3, {"cpu_s": 1}, slow=True
    ),
    "reads secrets": Attack(
        SECRETS,
        lambda r: (
            survived(r)
            and not (r["report"]["seen"] or r["report"]["environ"] or r["report"]["lines"])
            and set(r["report"]["names"]) - {"LC_CTYPE"} == GIVEN
            and r["report"]["homes"] == {"/home": ["redfirst"]}
            and r["report"]["beside"] == ["checkout"]
        ),
    ),
    "writes outside": Attack(WRITES, lambda r: survived(r) and set(r["report"].values()) <= REFUSED),
    "looks for other processes": Attack(
        PROCESSES,
        lambda r: (
            survived(r) and len(r["report"]["pids"]) == 2 and r["report"]["tty"] != "done" and r["wall_s"] < 5
        ),
    ),
    "grasps for powers": Attack(
        POWERS,
        lambda r: (
            survived(r)
            and all(value[0] == -1 for value in r["report"]["calls"].values())
            and set(r["report"]["caps"]) == {0}
        ),
    ),
    "asks for the caller's keys": Attack(
        KEYS,
        lambda r: (
            survived(r)
            and r["report"][:3] == [[-1, "EPERM"], [-1, "EPERM"], [-1, "ENOSYS"]]
            and len(r["report"][3]) == 5
        ),
    ),
    "reaches for the network": Attack(
        NETWORK,
        lambda r: (
            survived(r)
            and r["report"]["out"] == ["ENETUNREACH"] * 2
            and r["report"]["names"] == "refused"
            and r["report"]["loopback"] == 200
            and r["report"]["interfaces"] == ["lo"]
        ),
    ),
    "forges the end": Attack(FORGERY, lambda r: r["end"] == "exited" and r["exit"] == 7),
    "traps for whoever looks at the tree": Attack(
        TRAPS,
        lambda r: (
            survived(r)
            and r["changes"].get("folder/inner.txt") == "removed"
            and r["changes"].get("pipe") == r["changes"].get("out") == "added"
            and r["changes"].get("shut/in") == "added"
            and r["reads"] == {"pipe": None, "out/passwd": None, "folder/secret": None, "top.txt": "top\n"}
        ),
    ),
    "a hundred thousand names": Attack(
        MANY,
        lambda r: survived(r) and 90_000 < len(r["changes"]) < 110_000,
        {"files": 200_000, "disk_mb": 512},
        slow=True,
    ),
}

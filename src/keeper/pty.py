# Replaces script(1): CTL INNER. Runs INNER (T) on a new PTY, which the command below it makes its controlling terminal; passes stdin to it, its
# output to stdout, and "SECONDS BYTES" for each piece of output to CTL. Exits when INNER does, after passing on all output.
import os, select, signal, sys, time

ctl_path, inner = sys.argv[1:3]
master, slave = os.openpty()
child = os.fork()
if child == 0:
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.closerange(3, 256)
    os.execv("/bin/sh", ["sh", "-c", inner])
os.close(slave)
ctl = os.open(ctl_path, os.O_WRONLY)
last = time.monotonic()


def all_of(fd, data):
    while data:
        data = data[os.write(fd, data):]


def pass_on():
    """One piece of output; False when there is none left."""
    global last
    try:
        data = os.read(master, 65536)
    except OSError:
        return False
    if data:
        all_of(1, data)
        now = time.monotonic()
        os.write(ctl, b"%.6f %d\n" % (now - last, len(data)))
        last = now
    return bool(data)


wake, waker = os.pipe()
os.set_blocking(waker, False)
signal.set_wakeup_fd(waker)
signal.signal(signal.SIGCHLD, lambda *_: None)
over = os.waitpid(child, os.WNOHANG)[0]  # it may have ended before the handler was installed
pending = b""
while True:
    timeout = 0 if over else None
    ready, writable, _ = select.select([master, wake] if pending else [master, wake, 0], [master] if pending else [], [], timeout)
    if wake in ready:
        os.read(wake, 64)
        over = over or os.waitpid(child, os.WNOHANG)[0]
    if not pending and 0 in ready:
        pending = os.read(0, 4096)
    if writable:
        pending = pending[os.write(master, pending[:1024]):]
    if master in ready and not pass_on():
        break
    if over and master not in ready:
        break

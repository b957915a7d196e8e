# Joins this stream with a TCP port of the machine. Set before: bridge_mark, bridge_at (the address), bridge_hex (its bytes), bridge_port.
# Prints the mark once connected, or nothing at all; what follows belongs to the connection. docs/link.md
bridge_pl='
my ($hex, $port, $mark) = @ARGV;
my $six = length $hex == 32;
socket(my $far, $six ? 10 : 2, 1, 0) or exit 1;
connect($far, $six ? pack("S n N H32 N", 10, $port, 0, $hex, 0) : pack("S n H8 x8", 2, $port, $hex)) or exit 1;
$SIG{PIPE} = "IGNORE";
sub copy {
	my ($from, $to) = @_;
	while (sysread($from, my $bytes, 65536)) {
		for (my $at = 0; $at < length $bytes;) {
			my $n = syswrite($to, $bytes, length($bytes) - $at, $at);
			return if !defined $n;
			$at += $n;
		}
	}
}
syswrite(STDOUT, "$mark\n");
my $sender = fork;
exit 1 if !defined $sender;
if ($sender == 0) { close STDOUT; copy(\*STDIN, $far); shutdown($far, 1); exit 0 }
copy($far, \*STDOUT);
kill "TERM", $sender;
'
bridge_py='
import os, socket, sys, threading
at, port, mark = sys.argv[1:]
far = socket.create_connection((at, int(port)))
def copy(read, write):
    try:
        while True:
            data = read(65536)
            if not data: return
            write(data)
    except OSError: pass
def out(data):
    while data: data = data[os.write(1, data):]
def sender():
    copy(lambda n: os.read(0, n), far.sendall)
    try: far.shutdown(socket.SHUT_WR)
    except OSError: pass
out((mark + "\n").encode())
threading.Thread(target=sender, daemon=True).start()
copy(far.recv, out)
os._exit(0)
'
if command -v perl >/dev/null 2>&1; then exec perl -e "$bridge_pl" "$bridge_hex" "$bridge_port" "$bridge_mark" 2>/dev/null; fi
if command -v python3 >/dev/null 2>&1; then exec python3 -c "$bridge_py" "$bridge_at" "$bridge_port" "$bridge_mark" 2>/dev/null; fi
# These do not report when they are connected: a port without a listener ends the stream.
if command -v nc >/dev/null 2>&1; then
	echo "$bridge_mark"
	exec nc "$bridge_at" "$bridge_port" 2>/dev/null
fi
if command -v bash >/dev/null 2>&1; then
	exec bash -c 'exec 3<>"/dev/tcp/$1/$2" || exit 1; echo "$3"; { cat <&3; kill $$; } & cat >&3; wait' bash "$bridge_at" "$bridge_port" "$bridge_mark" 2>/dev/null
fi
echo "$bridge_mark none"

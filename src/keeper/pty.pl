# The relay of a terminal, if perl is available: CTL CLOCK, the number of clock_gettime(2). Runs T on a new PTY, which the command below T makes its
# controlling terminal, and passes stdin to it. Writes the output to the log at once, one run after another as K grants them through the FIFO `take`:
# docs/keeper.md.
# Without that FIFO (in a sandbox) the output goes to stdout and its times to CTL, as script(1) does it.
# Needs only perl-base, no modules: loading POSIX takes longer than all of this.
BEGIN { eval { require strict; strict->import } }    # perl may be installed without any module

my ($ctl_path, $clock) = @ARGV[0, -1];
# A 32-bit perl on a 64-bit kernel, common on the Raspberry Pi, needs another number: that of i386 or arm.
$clock = $clock == 228 ? 265 : 263 if length pack('l!', 0) == 4;
my $dir = $ENV{HOLDFAST_K_DIR};
my ($EINTR, $EAGAIN) = (4, 11);
my ($RDWR, $CREAT, $NOCTTY, $APPEND, $NONBLOCK) = (02, 0100, 0400, 02000, 04000);
my ($TIOCSPTLCK, $TIOCGPTN, $TIOCSWINSZ) = (0x40045431, 0x80045430, 0x5414);

# ---- the terminal ----

sysopen(my $master, '/dev/ptmx', $RDWR | $NOCTTY | $NONBLOCK) or die "ptmx: $!";
my $unlocked = pack('i', 0);
ioctl($master, $TIOCSPTLCK, $unlocked) or die "unlock: $!";
my $number = pack('i', 0);
ioctl($master, $TIOCGPTN, $number) or die "number: $!";
my $name = '/dev/pts/' . unpack('i', $number);
sysopen(my $slave, $name, $RDWR | $NOCTTY) or die "$name: $!";
sub give_size { my ($rows, $cols) = @_; ioctl($master, $TIOCSWINSZ, pack('S4', $rows, $cols, 0, 0)) }
give_size(@ENV{qw(HOLDFAST_K_ROWS HOLDFAST_K_COLS)});
delete $ENV{HOLDFAST_K_STTY}; # done here, so T need not do it

sysopen(my $ctl, $ctl_path, 01) or die "ctl: $!";
sub say_to_k { my ($text) = @_; 1 while !defined syswrite($ctl, $text) && $! == $EINTR }
my $direct = sysopen(my $take, "$dir/take", $RDWR | $NONBLOCK);
say_to_k("\ndirect\n") if $direct; # before the first possible resize

my $child = fork() // die "fork: $!";
if ($child == 0) {
    open(STDIN, '<&', $slave) && open(STDOUT, '>&', $slave) && open(STDERR, '>&', $slave) or exit 127;
    exec { $ENV{HOLDFAST_K_SH} } 'sh', $ENV{HOLDFAST_K_KEEPER}, 'terminal';
    exit 127;
}
close $slave;

# ---- times ----

my $spec = pack('l!2', 0, 0);
sub now { syscall($clock + 0, 1, $spec); my ($s, $ns) = unpack('l!2', $spec); return $s * 1_000_000 + int($ns / 1_000) }
my $start = now();
my ($seen, $bytes, $mark, $grain, $marks, $lines) = (0, 0, 0, 10_000, 0, ''); # like hf_tick of K

sub note {
    my ($got) = @_;
    my $at = now() - $start;
    mark() if $bytes && $at - $mark > $grain;
    $mark = $at if !$bytes;
    $bytes += $got;
    $seen += $got;
    flush_times() if length $lines > 800;
}
sub mark {
    $lines .= "$mark $bytes\n";
    $bytes = 0;
    if (++$marks == 65_536) { $marks = 0; $grain *= 2 }
}
sub write_times {
    mark() if $bytes;
    flush_times();
}
sub flush_times {
    return if $lines eq '';
    sysopen(my $times, "$dir/times", 01 | $CREAT | $APPEND, 0600) or return; # on a full disk they are kept in memory
    my $wrote = syswrite($times, $lines);
    $lines = substr($lines, $wrote) if $wrote;
}

# ---- output ----

my $data = ''; # read, but not yet written
my ($log, $count, $left) = (undef, 0, 0); # the run: its blocks, and the bytes that may still be read
my $written = 0;
my $gone = 0;

# Reads the terminal's current output. Returns the number of bytes.
sub output {
    my $got = sysread($master, $data, $left < 65_536 ? $left : 65_536);
    if (!$got) {
        $gone = 1 if defined $got || ($! != $EAGAIN && $! != $EINTR);
        return 0;
    }
    $direct ? keep() : pass_on();
    return $got;
}

# Writes to the log. The rest stays in memory until there is room.
sub keep {
    my $got = length $data;
    while ($data ne '') {
        my $wrote = syswrite($log, $data);
        if (!defined $wrote) {
            next if $! == $EINTR;
            last;
        }
        $written += $wrote;
        $data = $wrote == length $data ? '' : substr($data, $wrote);
    }
    note($got - length $data);
    $left = $data eq '' && $left > $got ? $left - $got : 0; # the run may be smaller than the data in memory
    report($data eq '' ? 0 : 'full') if !$left;
}
sub report { my ($status) = @_; say_to_k("\nran $count $written $status\n") }

my $last = $start;
sub pass_on {
    for (my $at = 0; $at < length $data;) {
        my $wrote = syswrite(STDOUT, $data, length($data) - $at, $at);
        if (defined $wrote) { $at += $wrote } elsif ($! != $EINTR) { die "output: $!" }
    }
    my $now = now();
    say_to_k(sprintf("%.6f %d\n", ($now - $last) / 1_000_000, length $data));
    $last = $now;
    $data = '';
}

# ---- orders from K ----

my $words = '';
my $over = 0;
sub listen_to_k {
    sysread($take, $words, 4096, length $words);
    while ($words =~ s/^(.*)\n//) {
        my ($word, $first, $second, $segment) = split / /, $1;
        if ($word eq 'take') { begin($first, $second, $segment) }
        elsif ($word eq 'size') {
            give_size($first, $second);
            mark() if $bytes;
            $lines .= "size $seen $second $first\n";
            write_times();
        }
        elsif ($word eq 'times') { write_times() }
        elsif ($word eq 'over') { $over = 1 } # T says so as it exits
    }
}
sub begin {
    (my $bs, $count, my $segment) = @_;
    ($left, $written) = ($bs * $count, 0);
    if (!sysopen($log, "$dir/$segment", 01 | $CREAT | $APPEND, 0600)) {
        $left = 0;
        report('full');
    }
    elsif ($data ne '') { keep() }
}

# ---- the event loop ----

sub bits { my $bits = ''; vec($bits, fileno $_, 1) = 1 for @_; return $bits }
my $m = fileno $master;
my $t = $direct ? fileno $take : -1;
my ($keys, $screen, $orders) = (bits(*STDIN), bits($master), $direct ? bits($take) : '');
my $pending = ''; # input that the terminal does not accept yet
my ($late, $held) = (0, 65_536); # bytes read since the end; a terminal holds less than $held, so more comes from a process that was left behind, perhaps endlessly
my $typed = 0;

# The kernel delivers input in its own time; a select at the other end waits until it has. Meanwhile we are seen working, so no observer concludes
# (from two looks, more than 3 ms apart) that the program waits in spite of the input. Not done at once, which would delay the echo.
sub settle {
    return if !$typed;
    $typed = 0;
    sysopen(my $end, $name, $RDWR | $NOCTTY | $NONBLOCK) or return;
    my $there = bits($end);
    select($there, undef, undef, 0);
}

$SIG{CHLD} = sub { }; # interrupts select. A signal just before select would be lost: then K says `over`, or without K the loop polls
$SIG{XFSZ} = 'IGNORE'; # a log at its file size limit waits for room, like on a full disk. Set after the fork, since T would inherit it
$left = 65_536 if !$direct;
while (!$gone) {
    $over ||= waitpid($child, 1) == $child;
    my $r = $pending eq '' ? $orders | $keys : $orders;
    $r |= $screen if $left;
    my $w = $pending eq '' ? undef : $screen;
    my $n = select($r, $w, undef, $over && $left ? 0 : $typed ? 0.003 : $direct && !$over ? undef : 2);
    settle() if !$n;
    last if $over && !$left && !-d $dir; # no one is left to grant a run
    next if $n < 0;
    if ($pending eq '' && vec($r, 0, 1)) { sysread(STDIN, $pending, 4096) }
    if ($pending ne '') {
        my $wrote = syswrite($master, $pending);
        if ($wrote) {
            $pending = $wrote == length $pending ? '' : substr($pending, $wrote);
            $typed = 1;
        }
    }
    listen_to_k() if $direct && vec($r, $t, 1);
    next if !$left;
    my $got = output(); # without another select: the echo of a key has arrived by now
    last if $over && $data eq '' && (!$got || ($late += $got) >= $held);
}
write_times() if $direct;

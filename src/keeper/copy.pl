# The copier of a slot, if perl is available: DIR LIVE. C becomes it (docs/keeper.md, "A slot").
# Copies the output of a persistent shell's commands from the FIFO `pipe` into the log, one run after another as K grants them through the FIFO
# `take`, like pty.pl. Unlike dd it survives the end of its input, and reports in the record `drained`, with a count, that the last writer has closed
# the pipe. stdin is `go`: end-of-file when the program that runs the shell has released it, or died. stdout keeps K's own dd waiting at its pipe
# until we exit.
# Needs only perl-base, no modules.
BEGIN { eval { require strict; strict->import } }

my ($dir, $live) = @ARGV;
my ($EINTR, $EAGAIN) = (4, 11);
my ($WRONLY, $RDWR, $CREAT, $APPEND, $NONBLOCK) = (01, 02, 0100, 02000, 04000);

sysopen(my $ctl, "$dir/ctl", $RDWR) or die "ctl: $!";
sub say_to_k { my ($text) = @_; 1 while !defined syswrite($ctl, $text) && $! == $EINTR }
sysopen(my $take, "$dir/take", $RDWR | $NONBLOCK) or die "take: $!";
sysopen(my $record, "$dir/drained", $WRONLY | $CREAT, 0600) or die "drained: $!";

# ---- the record ----

my ($ends, $offset) = (0, 0); # how often the last writer has closed the pipe; bytes in the log

# `eof`: no process had the pipe open for writing. `wait`: the pipe may hold more, and K has yet to grant a run. `open`: neither.
sub note {
    my ($state) = @_;
    sysseek($record, 0, 0);
    syswrite($record, sprintf("%-63s\n", "$state $ends $offset"));
}

# ---- the pipe ----

my ($pipe, $p);

# Opens a new descriptor: select(2) would report end-of-file on the old one forever. On the new one it waits for the next writer.
sub open_pipe {
    sysopen(my $fresh, "$dir/pipe", $NONBLOCK) or exit; # the directory was removed: the output is no longer needed
    ($pipe, $p) = ($fresh, '');
    vec($p, fileno $pipe, 1) = 1;
}

# ---- the log ----

my $data = ''; # read, but not yet in the log
my ($log, $count, $left, $written) = (undef, 0, 0, 0); # the run: its blocks, the bytes that may still be read, the bytes written

# Copies the current content of the pipe. Returns true at end-of-file.
sub copy {
    my $got = sysread($pipe, $data, $left < 65_536 ? $left : 65_536);
    return keep() if $got;
    return 0 if !defined $got; # EAGAIN: the pipe has a writer, which is silent
    $ends++;
    open_pipe(); # before the note: the next command may start right after it
    note('eof');
    return 1;
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
        $offset += $wrote;
        $data = $wrote == length $data ? '' : substr($data, $wrote);
    }
    $left = $data eq '' && $left > $got ? $left - $got : 0;
    if (!$left) {
        note('wait');
        say_to_k("\nran $count $written " . ($data eq '' ? 0 : 'full') . "\n");
    }
    return 0;
}

sub begin {
    (my $bs, $count, my $segment) = @_;
    start() if !$pipe;
    ($left, $written) = ($bs * $count, 0);
    if (!sysopen($log, "$dir/$segment", $WRONLY | $CREAT | $APPEND, 0600)) {
        $left = 0;
        say_to_k("\nran $count 0 full\n");
    }
    else {
        if ($data ne '') { keep() }
        note('open') if $left && $offset;
    }
}

# Prepares the first run: K has closed its end of this pipe, and S, which inherited it, does so in a moment. Only then is end-of-file real. The
# starter waits for `state`.
sub start {
    while (1) {
        open_pipe();
        last if defined sysread($pipe, my $nothing, 1);
        select(my $until = $p, undef, undef, undef);
    }
    note('eof');
    sysopen(my $state, "$dir/state", $WRONLY) or exit;
    syswrite($state, sprintf("%-63s\n", 'open'));
}

# ---- the owner and the collector ----

my $words = '';
my $released = 0; # exit when the last writer has
sub listen_to_k {
    sysread($take, $words, 4096, length $words);
    while ($words =~ s/^(.*)\n//) {
        my ($word, @rest) = split / /, $1;
        if ($word eq 'take') { begin(@rest) }
        elsif ($word eq 'release') { $released = 1 }
    }
}

# Handles the release by the program that runs the shell. If a command still runs, its shell finds `released` after it has written `exit`, and tells
# K.
# Both sides write first and then check.
sub let_go {
    sysopen(my $file, "$dir/released", $WRONLY | $CREAT, 0600) or $released = 1;
    $released = 1 if slurp('exit') =~ /\S/;
    $released = 1 if slurp('spec.json') !~ /"id":"(proc_\w+)"/ || !-e "$live/$1"; # the slot never had a command, or none that was visible
}
sub slurp {
    my ($name) = @_;
    sysopen(my $file, "$dir/$name", 0) or return '';
    sysread($file, my $text, 8192);
    return $text // '';
}

# Returns true if the collector is alive. Without its directory the collector is about to exit, or will never be told to.
sub collector_lives {
    my ($pid, $start) = slurp('meta') =~ /^collector (\d+) (\d+)$/m or return 0;
    sysopen(my $file, "/proc/$pid/stat", 0) or return 0;
    sysread($file, my $text, 4096);
    my @fields = split / /, ($text // '') =~ /.*\) (.*)/s ? $1 : '';
    return @fields > 19 && $fields[0] !~ /[ZX]/ && $fields[19] eq $start;
}

# ---- the event loop ----

$SIG{XFSZ} = 'IGNORE'; # a log at its file size limit waits for room, like on a full disk
$SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM PIPE);
my ($orders, $go) = ('', '');
vec($orders, fileno $take, 1) = 1;
vec($go, 0, 1) = 1;
my $held = 1;

rename("$dir/in", "$dir/pipe") or exit; # a slot needs no stdin; the old pipe stays open
say_to_k("\nclose\ndirect\n");
while (1) {
    my $r = $held ? $orders | $go : $orders;
    $r |= $p if $left;
    my $n = select($r, undef, undef, $released ? 2 : undef);
    last if $released && !$n && !collector_lives(); # no one is left to grant a run
    next if $n < 0;
    if ($held && vec($r, 0, 1) && !sysread(STDIN, my $word, 64)) {
        $held = 0;
        let_go();
    }
    listen_to_k() if vec($r, fileno $take, 1);
    next if !$left;
    if ($released) { last if copy() }
    elsif (vec($r, fileno $pipe, 1)) { copy() }
}

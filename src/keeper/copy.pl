# The copier of a slot, where there is perl: DIR LIVE. C becomes it (docs/keeper.md, "A slot").
# It copies what the commands of a persistent shell print from the FIFO `pipe` into the log, one run after another as K grants them through
# the FIFO `take`, as pty.pl does; and it sees what dd cannot say and live on: that the last writer has closed the pipe. The record `drained` says so,
# with a count. stdin is `go`: end-of-file when the program that runs the shell has let go, or died. stdout keeps K's own dd at its pipe until we leave.
# Nothing but perl-base, and no module.
BEGIN { eval { require strict; strict->import } }

my ($dir, $live) = @ARGV;
my ($EINTR, $EAGAIN) = (4, 11);
my ($WRONLY, $RDWR, $CREAT, $APPEND, $NONBLOCK) = (01, 02, 0100, 02000, 04000);

sysopen(my $ctl, "$dir/ctl", $RDWR) or die "ctl: $!";
sub say_to_k { my ($text) = @_; 1 while !defined syswrite($ctl, $text) && $! == $EINTR }
sysopen(my $take, "$dir/take", $RDWR | $NONBLOCK) or die "take: $!";
sysopen(my $record, "$dir/drained", $WRONLY | $CREAT, 0600) or die "drained: $!";

# ---- the record ----

my ($ends, $offset) = (0, 0); # how often the last writer has closed the pipe; the bytes in the log

# `eof`: nobody had the pipe open for writing. `wait`: there may be more in the pipe, and K has yet to grant a run. `open`: neither.
sub note {
    my ($state) = @_;
    sysseek($record, 0, 0);
    syswrite($record, sprintf("%-63s\n", "$state $ends $offset"));
}

# ---- the pipe ----

my ($pipe, $p);

# A fresh descriptor: of the old one select(2) would say for ever that it is at its end. On this one it waits for the next writer.
sub open_pipe {
    sysopen(my $fresh, "$dir/pipe", $NONBLOCK) or exit; # the directory is gone: nobody is interested any more
    ($pipe, $p) = ($fresh, '');
    vec($p, fileno $pipe, 1) = 1;
}

# ---- the log ----

my $data = ''; # read, and not yet in the log
my ($log, $count, $left, $written) = (undef, 0, 0, 0); # the run: its blocks, the bytes that may still be taken, those that were

# Takes what is in the pipe now. Returns true at its end.
sub copy {
    my $got = sysread($pipe, $data, $left < 65_536 ? $left : 65_536);
    return keep() if $got;
    return 0 if !defined $got; # EAGAIN: it has a writer, who says nothing
    $ends++;
    open_pipe(); # before it is said: the next command may come as soon as it is
    note('eof');
    return 1;
}

# Into the log. What does not go in now stays in our hands until there is room.
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

# The first run: K has closed its end of this pipe, and S, which was born with it, does so in a moment. Only then its end is what it seems. The starter
# waits for `state`.
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

# ---- who is there ----

my $words = '';
my $released = 0; # leave when the last writer has
sub listen_to_k {
    sysread($take, $words, 4096, length $words);
    while ($words =~ s/^(.*)\n//) {
        my ($word, @rest) = split / /, $1;
        if ($word eq 'take') { begin(@rest) }
        elsif ($word eq 'release') { $released = 1 }
    }
}

# The program that runs the shell has let go. If a command still runs, its shell finds `released` when it has written `exit`, and says so to K.
# Each side writes first and looks then.
sub let_go {
    sysopen(my $file, "$dir/released", $WRONLY | $CREAT, 0600) or $released = 1;
    $released = 1 if slurp('exit') =~ /\S/;
    $released = 1 if slurp('spec.json') !~ /"id":"(proc_\w+)"/ || !-e "$live/$1"; # no command was ever put here, or none that anybody was to see
}
sub slurp {
    my ($name) = @_;
    sysopen(my $file, "$dir/$name", 0) or return '';
    sysread($file, my $text, 8192);
    return $text // '';
}

# Without its directory it is on its way out, or will never be told to be.
sub collector_lives {
    my ($pid, $start) = slurp('meta') =~ /^collector (\d+) (\d+)$/m or return 0;
    sysopen(my $file, "/proc/$pid/stat", 0) or return 0;
    sysread($file, my $text, 4096);
    my @fields = split / /, ($text // '') =~ /.*\) (.*)/s ? $1 : '';
    return @fields > 19 && $fields[0] !~ /[ZX]/ && $fields[19] eq $start;
}

# ---- in the middle ----

$SIG{XFSZ} = 'IGNORE'; # a log that may not become longer is one more that waits for room
$SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM PIPE);
my ($orders, $go) = ('', '');
vec($orders, fileno $take, 1) = 1;
vec($go, 0, 1) = 1;
my $held = 1;

rename("$dir/in", "$dir/pipe") or exit; # a slot needs no stdin; the old pipe stays open where it is
say_to_k("\nclose\ndirect\n");
while (1) {
    my $r = $held ? $orders | $go : $orders;
    $r |= $p if $left;
    my $n = select($r, undef, undef, $released ? 2 : undef);
    last if $released && !$n && !collector_lives(); # nobody will grant us anything any more
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

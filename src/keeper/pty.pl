# Stands in for script(1): CTL INNER. See pty.py; this one is for boxes without it. Core perl, Linux ioctl numbers.
use strict;
use Errno ();
use POSIX ();
use Time::HiRes ();

my ($ctl_path, $inner) = @ARGV;
my ($TIOCSPTLCK, $TIOCGPTN, $TIOCSCTTY, $O_NOCTTY) = (0x40045431, 0x80045430, 0x540E, 0400);
sysopen(my $master, '/dev/ptmx', 2 | $O_NOCTTY) or die "ptmx: $!";
my $unlocked = pack('i', 0);
ioctl($master, $TIOCSPTLCK, $unlocked) or die "unlock: $!";
my $number = pack('i', 0);
ioctl($master, $TIOCGPTN, $number) or die "number: $!";
my $name = '/dev/pts/' . unpack('i', $number);
sysopen(my $slave, $name, 2 | $O_NOCTTY) or die "$name: $!";
my $child = fork() // die "fork: $!";
if ($child == 0) {
    POSIX::setsid();
    ioctl($slave, $TIOCSCTTY, 0);
    POSIX::dup2(fileno($slave), $_) for 0 .. 2;
    POSIX::close($_) for 3 .. 32;
    exec { '/bin/sh' } 'sh', '-c', $inner;
    POSIX::_exit(127);
}
close $slave;
sysopen(my $ctl, $ctl_path, 1) or die "ctl: $!";
my $last = Time::HiRes::time();

sub pass_on {
    my $got = sysread($master, my $data, 65536);
    return 1 if !defined $got && $!{EINTR}; # SIGCHLD, here and below
    return 0 if !$got;
    for (my $at = 0; $at < $got;) {
        my $wrote = syswrite(STDOUT, $data, $got - $at, $at);
        if (defined $wrote) { $at += $wrote } elsif (!$!{EINTR}) { die "output: $!" }
    }
    my $now = Time::HiRes::time();
    my $line = sprintf("%.6f %d\n", $now > $last ? $now - $last : 0, $got);
    1 while !defined syswrite($ctl, $line) && $!{EINTR};
    $last = $now;
    return 1;
}
sub bits { my $bits = ''; vec($bits, $_, 1) = 1 for @_; return $bits }

my $m = fileno $master;
my $pending = '';
my $over = 0;
$SIG{CHLD} = sub { }; # so that select is interrupted
while (1) {
    $over ||= waitpid($child, POSIX::WNOHANG()) == $child;
    my $r = $pending eq '' ? bits($m, 0) : bits($m);
    my $w = $pending eq '' ? '' : bits($m);
    my $n = select($r, $w, undef, $over ? 0 : 2); # 2: a signal just before select is not lost for long
    next if $n < 0;
    if ($pending eq '' && vec($r, 0, 1)) { sysread(STDIN, $pending, 4096) }
    if ($w ne '' && vec($w, $m, 1)) { my $k = syswrite($master, $pending, length($pending) > 1024 ? 1024 : length $pending); substr($pending, 0, $k) = '' if $k }
    last if vec($r, $m, 1) && !pass_on();
    last if $over && !vec($r, $m, 1);
}

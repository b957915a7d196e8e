# The remote end if perl exists: link.sh starts it and waits. The same wire, without a fork except for scripts: docs/link.md.
# Requests come on stdin, replies go to descriptor 3. perl 5.10 without any module, since many small images have none. The numbers are those of
# Linux, except on a few old processors, on which link.sh does not start this.
BEGIN { eval { require strict; strict->import } }
sub O_RDONLY () { 0 } sub O_WRONLY () { 1 } sub O_RDWR () { 2 } sub O_CREAT () { 0100 } sub O_TRUNC () { 01000 } sub O_NONBLOCK () { 04000 }
sub F_SETFD () { 2 } sub F_GETFL () { 3 } sub F_SETFL () { 4 } sub FD_CLOEXEC () { 1 }
sub EPERM () { 1 } sub ESRCH () { 3 } sub EINTR () { 4 } sub ENXIO () { 6 } sub EEXIST () { 17 } sub ENFILE () { 23 } sub EMFILE () { 24 }

my ($scratch, $dir, $idle, $delays) = @ARGV;
my $parent = getppid;
$0 = "holdfast-link $scratch";
$SIG{PIPE} = $SIG{INT} = $SIG{HUP} = "IGNORE";
open(my $replies, ">&=", 3) or exit 1;
fcntl($replies, F_SETFD, FD_CLOEXEC);    # not for the scripts we run

# Closes descriptors that a line of a .bashrc has left open in the shell before us: the scripts we run must not inherit them.
if (opendir(my $all, "/proc/self/fd")) {
	my @others = grep { /^\d+$/ && $_ > 3 } readdir $all;
	closedir $all;
	for (@others) { if (open(my $other, "<&=", $_)) { close $other } }
}
my $fine = eval { require Time::HiRes; Time::HiRes::stat("/"); 1 };    # times of files with their fractions


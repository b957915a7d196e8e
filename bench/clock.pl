# Prints the monotonic clock in nanoseconds, COUNT times, every MICROSECONDS. Node's process.hrtime reads the same clock.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC usleep);

my ($count, $microseconds) = @ARGV;
$| = 1;
for (1 .. $count) {
	printf "%d\n", clock_gettime(CLOCK_MONOTONIC) * 1e9;
	usleep($microseconds);
}

# ---- events ----

my ($init, $add, $remove) = do {
	my $machine = `uname -m`;
	$machine =~ /^x86_64/ ? (294, 254, 255) : $machine =~ /^(aarch64|riscv64)/ ? (26, 27, 28) : ();
};
my $events = $init && !$ENV{HOLDFAST_LINK_POLL} ? syscall($init, 0x80800) : -1;    # IN_CLOEXEC | IN_NONBLOCK
open(my $inotify, "<&=", $events) if $events >= 0;
my (%watch_of, %dir_of);    # directory => number of its watch, and back
my %parked;                 # id => request
my %waiting;                # directory => { id => 1 }
my %untold;                 # id => 1: on a file system without events, so it is polled
my %answered;               # id => request, in its state after the answer: may be asked again
sub REMEMBERED () { 4096 }
sub MASK () { 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x400 | 0x800 }    # modify, attrib, moved, create, delete self, move self

# Watches a directory from now on; returns false if that is not possible.
sub watch_directory {
	my ($path) = @_;
	return 1 if $watch_of{$path};
	return 0 if $events < 0;
	my $number = syscall($add, $events, "$path\0", MASK);
	return 0 if $number < 0;
	$watch_of{$path} = $number;
	$dir_of{$number} = $path;
	return 1;
}

# Some file systems send no events. The device of our own directory has been tested; all others are polled.
my $trusted = -1;
if (watch_directory($scratch)) {
	open(my $file, ">", "$scratch/event");
	close $file;
	my $ready = "";
	vec($ready, $events, 1) = 1;
	my @s = stat $scratch;
	$trusted = $s[0] if select($ready, undef, undef, 1);
	unlink "$scratch/event";
	forget_directory($scratch);
}

sub forget_directory {
	my ($path) = @_;
	my $number = delete $watch_of{$path};
	delete $dir_of{$number};
	syscall($remove, $events, $number + 0);
}

# Returns the directories with events, each with the names concerned ("": the directory itself); or all watched ones if events were lost.
sub happened {
	my %found;
	while (sysread($inotify, my $buffer, 65536)) {
		for (my $at = 0; $at < length $buffer;) {
			my ($number, $mask, undef, $length) = unpack("iIII", substr($buffer, $at, 16));
			$at += 16 + $length;
			return { map { $_ => { "" => 1 } } keys %waiting } if $mask & 0x4000;    # queue overflow
			my $path = $dir_of{$number};
			next if !defined $path;
			$found{$path}{ unpack "Z*", substr($buffer, $at - $length, $length) } = 1;
			if ($mask & 0xac00) {                      # gone, moved, unmounted: the name may mean another directory now
				delete $watch_of{$path};
				delete $dir_of{$number};
				syscall($remove, $events, $number + 0) if !($mask & 0x8000);
			}
		}
	}
	return \%found;
}

# Returns whether a file of a process directory matters to a watcher: our FIFOs and marks change with every command.
sub concerns {
	my ($request, $names) = @_;
	return 1 if $names->{""} || $request->{kind} ne "m";
	for my $name (keys %$names) {
		return 1 if $name =~ /^out\./;
		for (@{ $request->{items} }) { return 1 if /^.\Q$name\E[ \/]/ }
	}
	return 0;
}


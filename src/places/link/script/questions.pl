# ---- questions, many at once ----

sub MOST () { 1 << 20 }

sub whole {
	my ($path) = @_;
	sysopen(my $file, $path, O_RDONLY | O_NONBLOCK) or return undef;
	my $bytes = "";
	while (length $bytes < MOST) {
		my $n = sysread($file, $bytes, 65536, length $bytes);
		return $bytes eq "" ? undef : $bytes if !defined $n;
		last if !$n;
	}
	return $bytes;
}

# Returns the end of a command in a shell, which writes it in two pieces: the record with the name of the command, then the part with that name after
# it.
sub ending {
	my ($path) = @_;
	my $bytes = whole($path);
	for (my $n = 0; $n < 10 && defined $bytes && $bytes =~ /^exit \d+ - (\S+) *\n(.*)$/s && index($2, "\0$1\0") < 0; $n++) {
		select(undef, undef, undef, 0.0002);
		$bytes = whole($path);
	}
	return $bytes;
}

sub question {
	my ($kind, $rest) = $_[0] =~ /^(.)(.*)$/s or return undef;
	return whole($rest) if $kind eq "r";
	return ending($rest) if $kind eq "e";
	return stat_line($rest) if $kind eq "p";
	return readlink $rest if $kind eq "l";
	if ($kind eq "i") {
		my @s = stat_of($rest) or return undef;
		return join " ", @s[0, 6, 1, 3, 2, 7, 9, 4];
	}
	if ($kind eq "d") {
		opendir(my $names, $rest) or return undef;
		return join "", map { "$_\0" } grep { $_ ne "." && $_ ne ".." } readdir $names;
	}
	if ($kind eq "m") {
		my ($pid, $address, $length) = split / /, $rest;
		open(my $memory, "<:raw", "/proc/$pid/mem") or return undef;
		sysseek($memory, $address, 0) && sysread($memory, my $bytes, $length) or return undef;
		return $bytes;
	}
	if ($kind eq "c") {    # the collector's child runs dd, whose child is dd
		for my $pid (map { children($_) } children($rest)) {
			my $stat = stat_line($pid);
			return $stat if defined $stat && $stat =~ /^\d+ \(dd\) /;
		}
		return undef;
	}
	return table($rest eq "all") if $kind eq "T";
	return signalled(split / /, $rest) if $kind eq "s";
	return told(split /\t/, $rest, -1) if $kind eq "t";
	return undef;
}

# Up to the start time: what is behind it is most of the line, and no caller asks for it.
sub stat_line { my $stat = whole("/proc/$_[0]/stat"); return defined $stat && $stat =~ /^(.*\)(?: \S+){20})/s ? $1 : $stat }

sub children { my ($pid) = @_; my $list = whole("/proc/$pid/task/$pid/children"); return defined $list ? split / /, $list : () }

# Lists all processes, for a kill, in the format of the script in remote/table.ts. Works on a box without room for another process.
sub table {
	my ($all) = @_;
	my @said;
	if ($all) {
		push @said, "o" . readlink "/proc/self/ns/uts";
		push @said, "u$1" if (whole("/proc/uptime") || "") =~ /^(\S+)/;
	}
	for my $pid (processes()) {
		my $stat = whole("/proc/$pid/stat");
		next if !defined $stat;
		push @said, "s$stat";
		next if !$all;
		push @said, "e$pid $1" if (whole("/proc/$pid/environ") || "") =~ /(?:^|\0)(HOLDFAST_ID=[^\0]*)/;
		for my $fd (0, 1, 2) { my $to = readlink "/proc/$pid/fd/$fd"; push @said, "f$pid $to" if defined $to && $to =~ m{/proc_[0-9a-f]+/(?:pipe|in)$} }
		my $uts = readlink "/proc/$pid/ns/uts";
		push @said, "n$pid $uts" if defined $uts;
		my $argv = whole("/proc/$pid/cmdline");
		next if !defined $argv || $argv !~ m{/keeper/keeper\.sh\0keep\0([^\0]+)};
		my $meta = whole("$1/meta");
		my ($start) = $stat =~ /.*\) (?:\S+ ){19}(\S+)/s;
		push @said, "k$pid " if defined $meta && $meta =~ /^keeper $pid $start$/m;
	}
	return join "", map { "$_\0" } @said;
}

sub signalled {
	my ($signal, $pid, $of, $start) = @_;
	return "gone" if defined $of && (alive_since($of) || "") ne $start;
	return "sent" if eval { kill $signal, $pid };    # dies of an unknown signal name
	return $! == EPERM ? "refused" : "gone";
}

# Returns the start time of a process; undefined if it has ended.
sub alive_since {
	my $stat = whole("/proc/$_[0]/stat");
	return undef if !defined $stat;
	$stat =~ s/^.*\) //s;
	return $stat =~ /^[ZX]/ ? undef : (split / /, $stat)[19];
}

sub processes { opendir(my $names, "/proc") or return (); return grep { /^\d+$/ } readdir $names }

sub answers {
	my $bytes = "";
	for (@_) {
		my $answer = question($_);
		$bytes .= defined $answer ? length($answer) . "\n$answer" : "-\n";
	}
	return $bytes;
}


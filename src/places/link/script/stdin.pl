# ---- stdin of processes ----

sub feed {
	my ($id, $encoded, $path) = @_;
	(my $bytes = $encoded) =~ s/\\0([0-7]{3})/chr oct $1/ge;
	return say_to($id, 1, "absent") if !-p $path;
	sysopen(my $fifo, $path, O_WRONLY | O_NONBLOCK) or return say_to($id, $! == ENXIO ? 3 : 1, $! == ENXIO ? "no reader takes it" : "cannot be written");
	my $n = syswrite($fifo, $bytes);    # up to PIPE_BUF: all of it or nothing
	say_to($id, defined $n ? 0 : 3, defined $n ? "" : "no reader takes it");
}

# ---- writing, keepalive ----

sub answer_write {
	my ($id, $path, $offset, $bytes) = @_;
	sysopen(my $file, $path, O_WRONLY | O_CREAT, 0666) or return say_to($id, 1, "cannot be written");
	sysseek($file, $offset, 0);
	for (my $at = 0; $at < length $bytes;) {
		my $n = syswrite($file, $bytes, length($bytes) - $at, $at);
		if (defined $n) { $at += $n }
		elsif ($! != EINTR) { return say_to($id, 3, "no room") }
	}
	say_to($id, close($file) ? 0 : 3, "");
}

# Renews the sign of life; without it a sandbox without a runtime ends. Once a second is enough for the shortest lifetime.
my $lived = 0;

sub answer_ping {
	my ($id) = @_;
	if (time != $lived) {
		$lived = time;
		if (open(my $life, ">", "$dir/life")) { close $life }
		utime(undef, undef, "$dir/life");    # truncating an empty file does not change it
	}
	say_to($id, 0, "");
}


# ---- scripts ----

my %children;    # pid => script
$SIG{CHLD} = sub { };    # so that select wakes up

my $few = "no more files can be opened (ulimit -n)";

# Returns a private file, at its start.
sub input_of {
	my ($bytes) = @_;
	my $path = $bytes eq "" ? "/dev/null" : "$scratch/in";
	sysopen(my $file, $path, $bytes eq "" ? O_RDONLY : O_RDWR | O_CREAT | O_TRUNC, 0600) or return undef;
	return $file if $bytes eq "";
	unlink $path;
	for (my $at = 0; $at < length $bytes;) { $at += syswrite($file, $bytes, length($bytes) - $at, $at) || return undef }
	sysseek($file, 0, 0);
	return $file;
}

sub run {
	my ($id, $limit, $bytes, $script) = @_;
	my $input = input_of($bytes) or return say_to($id, 300, $! == EMFILE || $! == ENFILE ? "- $few" : "- there is no room for its input");
	pipe(my $out, my $out_end) && pipe(my $err, my $err_end) or return say_to($id, 300, "- $few");
	my $pid = fork;
	return say_to($id, 300, "- no process can be started: $!") if !defined $pid;
	if (!$pid) {
		$SIG{$_} = "DEFAULT" for qw(PIPE INT QUIT HUP TERM CHLD);
		setpgrp(0, 0);
		open(STDIN, "<&", $input);
		open(STDOUT, ">&", $out_end);
		open(STDERR, ">&", $err_end);
		$ENV{HOLDFAST_LINK_SCRIPT} = $script;    # not in the arguments, which all users can read
		exec "sh", "-c", 'link_script=$HOLDFAST_LINK_SCRIPT; unset HOLDFAST_LINK_SCRIPT; eval "$link_script"';
		exit 127;
	}
	close $out_end;
	close $err_end;
	for ($out, $err) { my $flags = fcntl($_, F_GETFL, 0); fcntl($_, F_SETFL, $flags | O_NONBLOCK) }
	$children{$pid} = { id => $id, limit => $limit, out => $out, err => $err, output => "", errors => "", size => 0 };
}

sub drain {
	my ($child) = @_;
	for my $kind ("out", "err") {
		my $file = $child->{$kind} or next;
		for (;;) {
			my $n = sysread($file, my $bytes, 65536);
			last if !defined $n;
			if (!$n) { $child->{$kind} = undef; last }
			if ($kind eq "out") {
				$child->{size} += $n;
				my $room = $child->{limit} - length $child->{output};
				$child->{output} .= substr($bytes, 0, $room) if $room > 0;
			} elsif (length $child->{errors} < 4096) {
				$child->{errors} .= $bytes;
			}
		}
	}
}

# A script is over when its shell is, even if another process still has its output open.
sub reap {
	for my $pid (keys %children) {
		my $gone = waitpid($pid, 1) == $pid;    # WNOHANG
		my $status = $?;
		my $child = $children{$pid};
		drain($child);
		next if !$gone;
		delete $children{$pid};
		my $code = $status & 127 ? 128 + ($status & 127) : $status >> 8;
		my ($error) = $child->{errors} =~ /^\s*([^\n]*)/;
		send_to($child->{id}, $child->{aborted} ? 2 : 0, "$code $child->{size} $error", $child->{output});
	}
}


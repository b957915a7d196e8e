# ---- the loop ----

my $buffer = "";

# Answers the complete requests in the buffer: a line, and its payload.
sub requests {
	for (;;) {
		my $end = index($buffer, "\n");
		return if $end < 0;
		my $line = substr($buffer, 0, $end);
		my ($id, $op, $a, $b, $rest) = split / /, $line, 5;
		my ($lines, $length) = (0, 0);
		if    ($op eq "q" || $op eq "M") { $lines = $a }
		elsif ($op eq "w")               { $length = $b }
		elsif ($op eq "e")               { ($lines, $length) = ((split / /, $rest)[1], $b) }
		my @lines;
		my $after = $end + 1;
		while (@lines < $lines) {
			my $next = index($buffer, "\n", $after);
			return if $next < 0;
			push @lines, substr($buffer, $after, $next - $after);
			$after = $next + 1;
		}
		return if length($buffer) < $after + $length;
		my $bytes = substr($buffer, $after, $length);
		substr($buffer, 0, $after + $length) = "";
		$rest =~ s/\t\.$// if $op eq "f" || $op eq "m" || $op eq "M";
		if    ($op eq "r") { answer_read($id, $rest, $a, $b) }
		elsif ($op eq "f") { park($id, { kind => "f", path => $rest, offset => $a, max => $b }) }
		elsif ($op eq "m") { my ($path, @items) = split /\t/, $rest; park($id, { kind => "m", path => $path, offset => $a, max => $b, items => \@items }) }
		elsif ($op eq "M") {
			my ($max, $items) = split / /, $rest, 2;
			my ($path, @items) = split /\t/, $items;
			park($id, { kind => "m", path => $path, offset => $b, max => $max, items => \@items, questions => \@lines });
		}
		elsif ($op eq "a") { my $request = delete $answered{$a}; $request ? park($id, { %$request, offset => $b }) : say_to($id, 9, "forgotten") }
		elsif ($op eq "c") {
			if (unpark($a)) { say_to($a, 2, "cancelled") }
			for my $pid (keys %children) { if ($children{$pid}{id} eq $a) { $children{$pid}{aborted} = 1; kill -15, $pid } }
		}
		elsif ($op eq "q") { send_to($id, 0, "", answers(@lines)) }
		elsif ($op eq "e") { run($id, $a, $bytes, join "", map { "$_\n" } @lines) }
		elsif ($op eq "w") { answer_write($id, $rest, $a, $bytes) }
		elsif ($op eq "b") { my (undef, undef, $text, $path) = split / /, $line, 4; feed($id, $text, $path) }
		elsif ($op eq "n") { answer_ping($id) }
		elsif ($op eq "x") { leave() }
		else               { say_to($id, 9, "unknown") }
	}
}

my ($beat, $all, $nudged) = (time, time, 0);
for (;;) {
	my $ready = "";
	vec($ready, 0, 1) = 1;
	vec($ready, $events, 1) = 1 if $events >= 0;
	my $patience = $idle / 4 < 5 ? $idle / 4 : 5;
	for my $child (values %children) {
		$patience = 0.25 if $patience > 0.25;
		for ($child->{out}, $child->{err}) { vec($ready, fileno $_, 1) = 1 if $_ }
	}
	$patience = $events < 0 ? 0.01 : 0.05 if %untold;
	# A part of a request: the rest may be held back on the way until something goes the other way.
	my $stalls = $delays && !$nudged && $buffer ne "";
	$patience = 0.001 if $stalls;
	my $n = select($ready, undef, undef, $patience);
	if ($stalls && !$n) { $nudged = 1; say_to(0, 0, "") }
	leave() if getppid != $parent;           # it was killed alone
	leave() if time - $beat > $idle;         # no request for too long: the near end has vanished without a word
	reap() if %children;
	if ($n > 0 && $events >= 0 && vec($ready, $events, 1)) {
		my $found = happened();
		for my $path (keys %$found) {
			for (keys %{ $waiting{$path} || {} }) { settle($_) if concerns($parked{$_}, $found->{$path}) }
		}
	}
	settle($_) for keys %untold;
	# Checks everything now and then, and drops directories without a request.
	if (time - $all >= 5) {
		$all = time;
		settle($_) for keys %parked;
		for (keys %watch_of) { forget_directory($_) if !$waiting{$_} }
	}
	if ($n > 0 && vec($ready, 0, 1)) {
		sysread(STDIN, $buffer, 1 << 18, length $buffer) or leave();
		$beat = time;
		$nudged = 0;
		my ($before, $nudge) = ($spoken, $buffer eq "0 c 0\n");
		# A nudge that has crossed news: the near end speaks next, and what it says would wait until the nudge is acknowledged.
		my $crossed = $nudge && $told;
		$told = 0;
		requests();
		say_to(0, 0, "") if $delays && (!$nudge || $crossed) && $buffer eq "" && $spoken == $before;
	}
}

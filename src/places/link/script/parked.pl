# ---- parked requests ----

sub park {
	my ($id, $request) = @_;
	$parked{$id} = $request;
	settle($id);
}

sub unpark {
	my ($id) = @_;
	my $request = delete $parked{$id} or return 0;
	delete $untold{$id};
	my $path = $request->{at};
	if (defined $path) { delete $waiting{$path}{$id}; delete $waiting{$path} if !%{ $waiting{$path} } }
	return 1;
}

# Answers if there is news; else arranges to be notified of it. Watches first, then looks: nothing falls in between.
sub settle {
	my ($id) = @_;
	my $request = $parked{$id} or return;
	my $path = $request->{kind} eq "m" ? $request->{path} : $request->{path} =~ m{^(.+)/[^/]*$}s ? $1 : "/";
	$path =~ s{/[^/]*$}{} while $request->{kind} eq "f" && $path =~ m{/} && !-d $path;    # the directory does not exist yet: wait in its nearest existing parent
	$path = "/" if $path eq "";
	if (!defined $request->{at} || $request->{at} ne $path) {
		if (defined $request->{at}) { delete $waiting{ $request->{at} }{$id}; delete $waiting{ $request->{at} } if !%{ $waiting{ $request->{at} } } }
		$request->{at} = $path;
		$waiting{$path}{$id} = 1;
	}
	if (watch_directory($path) && $trusted >= 0 && (stat $path)[0] == $trusted) { delete $untold{$id} }
	else { $untold{$id} = 1 }
	$request->{kind} eq "f" ? settle_file($id, $request) : settle_directory($id, $request);
}

sub settle_file {
	my ($id, $request) = @_;
	my @s = stat $request->{path} or return;
	return if $s[7] <= $request->{offset};
	unpark($id);
	$told = 1;
	return say_to($id, 0, $s[7]) if $request->{offset} < 0 || !$request->{max};
	answer_read($id, $request->{path}, $request->{offset}, $request->{max});
}

# Answers about a process directory. Reads records first, then sizes, then the log: with the news of an exit comes all output from before it.
sub settle_directory {
	my ($id, $request) = @_;
	my $path = $request->{path};
	my ($head, $news, @now, @items) = ("", 0);
	for my $item (@{ $request->{items} }) {
		my ($kind, $name, $old) = $item =~ /^(.)(\S+) (.*)$/s or next;
		my ($new, $time) = $kind eq "r" ? record("$path/$name") : size("$path/$name");
		$news = 1 if $new ne $old;
		$head .= $kind eq "r" ? "r $name $time $new\n" : "s $name $new\n";
		push @items, "$kind$name $new";
	}
	if (!opendir(my $names, $path)) {
		unpark($id);
		return say_to($id, 1, "absent");
	} else {
		@now = sort map { /^out\.(\d{15})$/ ? $1 : () } readdir $names;
	}
	my ($end, @segments) = (0);
	for (@now) {
		my $length = -s "$path/out.$_";
		next if !defined $length && !-e "$path/out.$_";    # dropped by its ring
		push @segments, [$_ + 0, $length || 0, "$path/out.$_"];
		$end = $_ + ($length || 0);
	}
	return if !$news && $end <= $request->{offset};
	unpark($id);
	$told = 1;
	my $from = $request->{offset};
	$from = $segments[0][0] if @segments && $segments[0][0] > $from;
	$head .= "o $$_[0] $$_[1]\n" for @segments;
	$head .= "l $from\n";
	my ($log, $at) = ("", $from);
	for my $segment (@segments) {
		my ($start, $length, $file) = @$segment;
		next if $start + $length <= $at;
		last if $start > $at || length $log >= $request->{max};
		my $want = $start + $length - $at;
		$want = $request->{max} - length $log if $want > $request->{max} - length $log;
		my $open = open_file($file) or last;
		my $bytes = bytes_at($open, $at - $start, $want);
		$log .= $bytes;
		$at += length $bytes;
		last if length $bytes < $want;
	}
	return send_to($id, 0, length $head, $head . $log) if !$request->{questions};
	my $answers = answers(@{ $request->{questions} });    # after the log: a process that is gone by now has printed nothing beyond it
	$answered{$id} = { %$request, items => \@items, at => undef };
	if (keys %answered > REMEMBERED) { my ($oldest) = sort { $a <=> $b } keys %answered; delete $answered{$oldest} }
	send_to($id, 0, length($head) . " " . length $answers, $head . $answers . $log);
}

# Returns the first 64 bytes if they end in their only newline; anything else is incomplete. More may follow them.
sub record {
	my ($path) = @_;
	sysopen(my $file, $path, O_RDONLY | O_NONBLOCK) or return ("", 0);
	sysread($file, my $bytes, 64);
	return ("", 0) if !defined $bytes || length $bytes != 64 || index($bytes, "\n") != 63;
	$bytes =~ s/ *\n$//;
	return ($bytes, sprintf("%.3f", (stat_of($file))[9] || 0));
}

sub size { my @s = stat $_[0]; return @s ? $s[7] : -1 }


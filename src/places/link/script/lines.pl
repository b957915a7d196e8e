# ---- lines for a shell ----

# Sends a line to the shell in $dir, once only: $name identifies it, $done is one that will not be sent again. Writes its files first:
# each =PATH is overwritten in place, or >PATH from its start. Without the directories $needed it fails. $from is "PID CWD": if the
# shell with that pid is in another directory, the caller has to handle it.
sub told {
	my ($dir, $name, $done, $from, $needed, $text, @files) = @_;
	if ($done eq "") { unmark("$dir/sent.$_") for old_marks($dir) }
	return -e "$dir/sent.$name/moved" ? "otherwise" : "had" if lstat "$dir/sent.$name" and -d _ || -l _;    # a link: the line was withdrawn
	for ($dir, split m{/(?=/)}, $needed) { return "gone" if !-d $_ }
	if ($from =~ /^(\d+) (.*)$/s) {
		my @there = stat "/proc/$1/cwd";
		my @asked = stat $2;
		return "otherwise" if !@there || !@asked || $there[0] != $asked[0] || $there[1] != $asked[1];
	}
	while (@files) {
		my ($how, $path) = shift(@files) =~ /^(.)(.*)$/s;
		put($path, unescape(shift @files), $how eq ">" ? O_TRUNC : 0) or return "$path cannot be written: $!";
	}
	mark("$dir/sent.$name", $done eq "" ? undef : "$dir/sent.$done") or return $! == EEXIST ? "had" : "$dir cannot be written: $!";
	if (sysopen(my $fifo, "$dir/in", O_RDWR | O_NONBLOCK)) {
		return "told" if -p $fifo && syswrite($fifo, unescape($text));    # up to PIPE_BUF: all of it or nothing
	}
	my $why = $!;
	rmdir "$dir/sent.$name";
	return "it takes nothing: $why";
}

# Makes the mark of a line, once only. A mark that is no longer needed is renamed: a new directory, and the end of the old one, cost a file system as much
# as all the rest of a line. Only one of two that rename it succeeds.
sub mark {
	my ($mark, $old) = @_;
	if (defined $old) {
		unlink "$old/moved";
		return 1 if utime(undef, undef, $old) && rename $old, $mark;    # its age counts from now
		unmark($old);
	}
	return mkdir $mark, 0700;
}

sub unmark { unlink "$_[0]/moved"; rmdir $_[0] }

# Removes the marks of ended programs: their resends happened long ago. As in remote/commands.ts.
sub old_marks {
	my ($dir) = @_;
	opendir(my $names, $dir) or return ();
	my @marks = map { /^sent\.(.+)$/s ? $1 : () } readdir $names;
	return grep { my @s = lstat "$dir/sent.$_"; @s && time - $s[9] > 600 } @marks;
}

# Writes in place, so that programs with the file open see it. Watchers need no news of what the local end itself has written.
# Content that is written whole is usually unchanged.
my %written;

sub put {
	my ($path, $bytes, $how) = @_;
	if ($how) {
		return 1 if defined $written{$path} && $written{$path} eq $bytes && (-s $path || 0) == length $bytes;
		%written = () if keys %written >= REMEMBERED;
		$written{$path} = $bytes;
	}
	sysopen(my $file, $path, O_WRONLY | O_CREAT | $how, 0600) or return 0;
	my $n = syswrite($file, $bytes);
	return 0 if !defined $n || $n != length $bytes;
	my ($dir, $name) = $path =~ m{^(.*)/([^/]*)$}s;
	for my $id (keys %{ $waiting{$dir} || {} }) {
		for (@{ $parked{$id}{items} || [] }) { $_ = "r$name " . (record($path))[0] if /^r\Q$name\E / }
	}
	return 1;
}

sub unescape { my ($text) = @_; $text =~ s/\\(?:s(\d+);|0([0-7]{3}))/defined $1 ? " " x $1 : chr oct $2/ge; return $text }


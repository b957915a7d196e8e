# ---- files ----

# Returns at most $max bytes at $offset of an open file.
sub bytes_at {
	my ($file, $offset, $max) = @_;
	my $bytes = "";
	sysseek($file, $offset, 0) or return "";
	while (length $bytes < $max) { sysread($file, $bytes, $max - length $bytes, length $bytes) or last }
	return $bytes;
}

# Opens without blocking: some files block a reader (/proc/kmsg), and all other requests would wait with it. Such a file then reads as empty.
sub open_file {
	my ($path) = @_;
	return undef if !-f $path;
	sysopen(my $file, $path, O_RDONLY | O_NONBLOCK) or return undef;
	return -f $file ? $file : undef;
}

sub BLOCK () { 1 << 18 }

# Sends a large part of a file without holding it in memory. The length goes first, so a file that shrinks now ends the link.
sub pass_on {
	my ($id, $file, $offset, $length, $size) = @_;
	sysseek($file, $offset, 0) or return say_to($id, 1, "cannot be read");
	out("=$id 0 $length $size\n");
	my $block;
	while ($length > 0) {
		my $n = sysread($file, $block, $length < BLOCK ? $length : BLOCK) or leave();
		out($block);
		$length -= $n;
	}
	out("\n.$id\n");
}

sub answer_read {
	my ($id, $path, $offset, $max) = @_;
	my $file = open_file($path) or return say_to($id, 1, "cannot be read");
	my $size = -s $file;
	my $there = $size - $offset < $max ? $size - $offset : $max;
	return pass_on($id, $file, $offset, $there, $size) if $there > BLOCK;
	$! = 0;
	my $bytes = bytes_at($file, $offset, $max);
	return say_to($id, 1, "cannot be read ($!)") if $bytes eq "" && $!;
	send_to($id, 0, -s $file, $bytes);
}

sub stat_of { my @s = $fine ? Time::HiRes::stat($_[0]) : stat $_[0]; return @s }


# ---- replies ----

# Ends the link. Running scripts continue to their end.
sub leave {
	if (opendir(my $all, $scratch)) {
		unlink map { "$scratch/$_" } readdir $all;
	}
	rmdir $scratch;
	exit;
}

my $spoken = 0;    # how often, for those who wait for an answer
my $told = 0;      # news was told since the last request that was no nudge

sub out {
	$spoken++;
	for (my $at = 0; $at < length $_[0];) {
		my $n = syswrite($replies, $_[0], length($_[0]) - $at, $at);
		if (defined $n) { $at += $n }
		elsif ($! != EINTR) { leave() }    # no reader left
	}
}

sub say_to { my ($id, $status, $text) = @_; out("=$id $status 0 $text\n") }

sub send_to {
	my ($id, $status, $text, $bytes) = @_;
	return say_to($id, $status, $text) if $bytes eq "";
	out("=$id $status " . length($bytes) . " $text\n$bytes\n.$id\n");
}


# The remote end if perl exists: link.sh starts it and waits. The same wire, without a fork except for scripts: docs/link.md.
# Requests come on stdin, replies go to descriptor 3. perl 5.10 without any module, since many small images have none. The numbers are those of
# Linux, except on a few old processors, on which link.sh does not start this.
BEGIN { eval { require strict; strict->import } }
sub O_RDONLY () { 0 } sub O_WRONLY () { 1 } sub O_RDWR () { 2 } sub O_CREAT () { 0100 } sub O_TRUNC () { 01000 } sub O_NONBLOCK () { 04000 }
sub F_SETFD () { 2 } sub F_GETFL () { 3 } sub F_SETFL () { 4 } sub FD_CLOEXEC () { 1 }
sub EPERM () { 1 } sub ESRCH () { 3 } sub EINTR () { 4 } sub ENXIO () { 6 } sub EEXIST () { 17 } sub ENFILE () { 23 } sub EMFILE () { 24 }

my ($scratch, $dir, $idle, $delays) = @ARGV;
my $parent = getppid;
$0 = "holdfast-link $scratch";
$SIG{PIPE} = $SIG{INT} = $SIG{HUP} = "IGNORE";
open(my $replies, ">&=", 3) or exit 1;
fcntl($replies, F_SETFD, FD_CLOEXEC);    # not for the scripts we run

# Closes descriptors that a line of a .bashrc has left open in the shell before us: the scripts we run must not inherit them.
if (opendir(my $all, "/proc/self/fd")) {
	my @others = grep { /^\d+$/ && $_ > 3 } readdir $all;
	closedir $all;
	for (@others) { if (open(my $other, "<&=", $_)) { close $other } }
}
my $fine = eval { require Time::HiRes; Time::HiRes::stat("/"); 1 };    # times of files with their fractions

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
	$path =~ s{/[^/]*$}{} while $path =~ m{/} && !-d $path && $request->{kind} eq "f";    # the directory does not exist yet: wait in its nearest existing parent
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
	my $file = open_file($path) or return ("", 0);
	sysread($file, my $bytes, 64);
	return ("", 0) if length $bytes != 64 || index($bytes, "\n") != 63;
	$bytes =~ s/ *\n$//;
	return ($bytes, sprintf("%.3f", (stat_of($path))[9] || 0));
}

sub size { my @s = stat $_[0]; return @s ? $s[7] : -1 }

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

# ---- lines for a shell ----

# Sends a line to the shell in $dir, once only: $name identifies it, $done is one that will not be sent again. Writes its files first:
# each =PATH is overwritten in place, or >PATH from its start. Without the directories $needed it fails. $from is "PID CWD": if the
# shell with that pid is in another directory, the caller has to handle it.
sub told {
	my ($dir, $name, $done, $from, $needed, $text, @files) = @_;
	unmark("$dir/sent.$_") for $done ne "" ? $done : old_marks($dir);
	return -e "$dir/sent.$name/moved" ? "otherwise" : "had" if -d "$dir/sent.$name" || -l "$dir/sent.$name";    # a link: the line was withdrawn
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
	mkdir("$dir/sent.$name", 0700) or return $! == EEXIST ? "had" : "$dir cannot be written: $!";
	if (sysopen(my $fifo, "$dir/in", O_RDWR | O_NONBLOCK)) {
		return "told" if -p $fifo && syswrite($fifo, unescape($text));    # up to PIPE_BUF: all of it or nothing
	}
	my $why = $!;
	rmdir "$dir/sent.$name";
	return "it takes nothing: $why";
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

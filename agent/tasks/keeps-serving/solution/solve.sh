#!/bin/sh
cat > server.pl <<'END'
use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => shift, Listen => 5, ReuseAddr => 1) or die "cannot listen: $!";
open(my $ready, ">", "ready") or die; close $ready;
while (my $client = $server->accept) { $client->autoflush(1); while (<$client>) { print $client uc } close $client }
END
setsid perl server.pl "$(cat port.txt)" < /dev/null > server.log 2>&1 &
until [ -e ready ]; do sleep 0.05; done

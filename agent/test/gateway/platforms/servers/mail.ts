/** A real exim and a real dovecot, with the mail of both in one directory. */

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { Daemon, freePort, serverDir } from "./daemon.js";

export const MAIL = { exim4: "/usr/sbin/exim4", dovecot: "/usr/sbin/dovecot", "dovecot-imapd": "/usr/lib/dovecot/imap" };
const OWNER = "Debian-exim";

export interface MailServer {
	readonly smtp: number;
	readonly imap: number;
	account(name: string, password: string): void;
	/** Whether dovecot takes a password; it looks at its file at most once a second. */
	accepts(name: string, password: string): Promise<boolean>;
	/** Puts a mail into a mailbox, as it came from outside. */
	deliver(name: string, mail: string): void;
	/** Mail of a mailbox, in the order in which exim took it: deliveries run side by side, and may overtake each other. */
	mailOf(name: string): string[];
	close(): Promise<void>;
}

export async function startMail(): Promise<MailServer> {
	const [dir, smtp, imap] = [serverDir("mail"), await freePort(), await freePort()];
	const passwords = new Map<string, string>();
	const account = (name: string, password: string): void => {
		passwords.set(name, password);
		const lines = (separator: string, value: (password: string, name: string) => string): string =>
			[...passwords].map(([user, word]) => `${user}${separator}${value(word, user)}\n`).join("");
		fs.writeFileSync(
			path.join(dir, "passwords"),
			lines(": ", (word) => word),
		);
		fs.writeFileSync(
			path.join(dir, "names"),
			lines(": ", (_, user) => user),
		);
		fs.writeFileSync(
			path.join(dir, "imap"),
			lines(":", (word) => word),
		);
	};
	account("holdfast", "secret");
	for (const name of ["spool", "mail", "run"]) fs.mkdirSync(path.join(dir, name));
	execFileSync("chown", [OWNER, path.join(dir, "spool"), path.join(dir, "mail")]);
	fs.writeFileSync(path.join(dir, "exim.conf"), eximConfig(dir, smtp));
	fs.writeFileSync(path.join(dir, "dovecot.conf"), dovecotConfig(dir, imap));
	const daemons = [
		new Daemon(["/usr/sbin/exim4", "-C", path.join(dir, "exim.conf"), "-bdf"], dir),
		new Daemon(["/usr/sbin/dovecot", "-F", "-c", path.join(dir, "dovecot.conf")], dir),
	];
	await daemons[0]?.listens(smtp);
	await daemons[1]?.listens(imap);
	const box = (name: string): string => path.join(dir, "mail", name);
	return {
		smtp,
		imap,
		account,
		accepts: (name, password) =>
			new Promise((resolve, reject) => {
				let said = "";
				const socket = net.connect(imap, "127.0.0.1", () => socket.write(`a LOGIN ${name} ${password}\r\n`));
				socket.on("error", reject).on("data", (chunk) => {
					said += chunk;
					const [, verdict] = /^a (OK|NO)/m.exec(said) ?? [];
					if (verdict === undefined) return;
					socket.destroy();
					resolve(verdict === "OK");
				});
			}),
		deliver: (name, mail) => {
			for (const part of ["", "new", "cur", "tmp"]) fs.mkdirSync(path.join(box(name), part), { recursive: true });
			const file = `${Date.now()}.M${process.hrtime.bigint()}P${randomBytes(3).toString("hex")}.test`;
			fs.writeFileSync(path.join(box(name), "tmp", file), mail.replaceAll(/\r?\n/g, "\r\n"));
			execFileSync("chown", ["-R", OWNER, box(name)]);
			fs.renameSync(path.join(box(name), "tmp", file), path.join(box(name), "new", file));
		},
		mailOf: (name) => {
			const files = ["new", "cur"].flatMap((part) => {
				const inside = path.join(box(name), part);
				return fs.existsSync(inside) ? fs.readdirSync(inside).map((file) => path.join(inside, file)) : [];
			});
			const log = path.join(dir, "spool", "mainlog");
			const taken = fs.existsSync(log) ? fs.readFileSync(log, "utf8") : "";
			const mails = files.map((file) => fs.readFileSync(file, "utf8"));
			const placeOf = (mail: string): number => taken.indexOf(` id=${/^message-id:\s*<([^>]+)>/im.exec(mail)?.[1] ?? ""}`);
			return mails.sort((a, b) => placeOf(a) - placeOf(b));
		},
		close: async () => {
			await Promise.all(daemons.map((daemon) => daemon.end()));
			fs.rmSync(dir, { recursive: true });
		},
	};
}

const eximConfig = (dir: string, port: number): string => `
spool_directory = ${dir}/spool
log_file_path = ${dir}/spool/%slog
pid_file_path = ${dir}/exim.pid
primary_hostname = localhost
keep_environment =
domainlist local_domains = localhost
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
deliver_drop_privilege = true
host_lookup =
rfc1413_query_timeout = 0s
tls_advertise_hosts =
smtp_accept_max = 50
acl_smtp_rcpt = check_rcpt
begin acl
check_rcpt:
  accept domains = +local_domains
         local_parts = lsearch;${dir}/names
  deny message = unknown user
begin routers
local:
  driver = accept
  domains = +local_domains
  local_parts = lsearch;${dir}/names
  transport = maildir
begin transports
maildir:
  driver = appendfile
  directory = ${dir}/mail/$local_part_data
  maildir_format
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if eq{$auth3}{\${lookup{$auth2}lsearch{${dir}/passwords}{$value}{}}}}
  server_set_id = $auth2
`;

const dovecotConfig = (dir: string, port: number): string => `
base_dir = ${dir}/run
log_path = ${dir}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_failure_delay = 0
mail_location = maildir:${dir}/mail/%n
mail_uid = ${OWNER}
mail_gid = ${OWNER}
first_valid_uid = 1
default_internal_user = ${OWNER}
default_internal_group = ${OWNER}
default_login_user = ${OWNER}
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${dir}/imap
}
userdb {
  driver = static
  args = uid=${OWNER} gid=${OWNER} home=${dir}/mail/%n
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    auto = subscribe
    special_use = \\Sent
  }
}
`;

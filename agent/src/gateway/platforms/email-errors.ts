/** The meaning of errors of SMTP and IMAP for a message. */
import { fromNetwork, later } from "./failures.js";
import { PlatformError } from "./platform.js";

interface SmtpFailure {
	readonly code?: string;
	readonly command?: string;
	readonly syscall?: string;
	readonly responseCode?: number;
	readonly response?: string;
	readonly message?: string;
}

const BEFORE_DATA = /^(?:EHLO|HELO|LHLO|STARTTLS|AUTH|MAIL FROM|RCPT TO)/;
/** Words of nodemailer for a connection that never stood. One that was closed later has the same code and command, at whatever moment. */
const NO_CONNECTION = /^(?:Connection timeout|Greeting never received)/;
const WAIT_SECONDS = 120;

export function fromSmtp(error: unknown): PlatformError {
	if (error instanceof PlatformError) return error;
	const { code, command = "", responseCode = 0, response, message, syscall } = error as SmtpFailure;
	const words = `the mail server: ${response ?? message ?? code}`;
	const cause = { cause: error };
	if (code === "EAUTH")
		return new PlatformError("key", `the mail server does not take the password for sending (${response ?? message}); check it and run setup`, cause);
	if (responseCode >= 400 && responseCode < 500) return later("the mail server", WAIT_SECONDS);
	if (code === "EENVELOPE" && responseCode >= 500) return new PlatformError(command.startsWith("RCPT") ? "dead" : "refused", words, cause);
	if (responseCode >= 500) return new PlatformError("refused", words, cause);
	// Until the text has been sent, the server has nothing.
	if (BEFORE_DATA.test(command) || syscall === "connect" || NO_CONNECTION.test(message ?? "")) return new PlatformError("not-sent", words, cause);
	return fromNetwork(error, "the mail server");
}

export function fromImap(error: unknown): PlatformError {
	if (error instanceof PlatformError) return error;
	const { authenticationFailed, serverResponseCode } = error as { authenticationFailed?: boolean; serverResponseCode?: string };
	if (authenticationFailed && serverResponseCode !== "UNAVAILABLE")
		return new PlatformError("key", "the mail server does not take the password for reading; check it and run setup", { cause: error });
	return fromNetwork(error, "the mail server");
}

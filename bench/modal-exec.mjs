/** Runs a command in the only sandbox there is, with Modal's own library, and relays its bytes. */
import { Readable, Writable } from "node:stream";
import { ModalClient } from "modal";

const client = new ModalClient({ logLevel: "error" });
const { apps } = await client.cpClient.appList({ environmentName: client.environmentName() });
const { value: sandbox } = await client.sandboxes.experimentalList({ appId: apps[0].appId }).next();
const command = await sandbox.exec(["sh", "-c", process.argv[2]], { mode: "binary", stderr: "ignore" });
process.stdin.pipe(Writable.fromWeb(command.stdin));
Readable.fromWeb(command.stdout).pipe(process.stdout, { end: false });
process.exit(await command.wait());

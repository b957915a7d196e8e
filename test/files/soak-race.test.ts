/** A directory of this machine that changes places with a link, 500 times copied to and from; and all else that copies do. */
import { inDocker } from "../contract/docker-place.js";
import { overSsh } from "../contract/ssh-place.js";
import { filesSuite } from "./suite.js";

for (const place of [inDocker, overSsh]) filesSuite(place, { megabytes: 5, race: 500 });

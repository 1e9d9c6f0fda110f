// A shard in a process of its own, to be measured from outside: `fork` it, read its URI, ask it for its memory.
import { setTimer } from "../../dist/lib/cluster/machine.js";
import { serve } from "../../dist/lib/net/index.js";
import { Mongod } from "../../dist/lib/mongod/index.js";

const environment = { now: Date.now, random: Math.random, setTimer };
const server = await serve((host) => new Mongod({ environment, host }));
process.send?.({ uri: `mongodb://${server.address}/?directConnection=true` });
process.on("message", () => process.send?.({ memory: process.memoryUsage() }));
process.on("disconnect", () => process.exit());

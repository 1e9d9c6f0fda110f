/**
 * The program `mongos`: the simulated router on a port, its catalog on config servers (`--configdb`). It is to MongoDB's
 * mongos what `mongod.ts` is to mongod: same options, exit codes, log lines and their numbers.
 *
 * Started by the shell script `lib/bin/mongos`; where there is no shell, by `node dist/lib/bin/mongos.js`.
 * SHARDLAB_RULES, SHARDLAB_CLOCK and SHARDLAB_SEED say what MongoDB's program can't be asked (`--help`); SHARDLAB_NODE
 * is the node to run.
 */
import { SERVER_VERSION } from "../protocol/release.js";
import { OptionsError, readRouterCommandLine } from "./commandLine.js";
import { routerHelpText } from "./optionTable.js";

/** The name it was called by, for messages and getCmdLineOpts. */
const program = process.env["SHARDLAB_PROGRAM"] ?? "mongos";
const words = process.argv.slice(2);

try {
  const settings = readRouterCommandLine(words);
  if (settings.help) process.stdout.write(routerHelpText());
  else if (settings.version) process.stdout.write(`mongos version v${SERVER_VERSION}\n`);
  else await (await import("./routerServer.js")).runRouter(settings, [program, ...words]);
} catch (error) {
  if (!(error instanceof OptionsError)) throw error;
  process.stderr.write(`${error.message}\ntry '${program} --help' for more information\n`);
  process.exitCode = 2;
}

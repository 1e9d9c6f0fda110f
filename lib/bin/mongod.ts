/**
 * The program `mongod`: one embedded mongod on a port, for everything that expects MongoDB's own.
 *
 *     words ─▶ commandLine ─▶ dataDirectory held ─▶ port opened ─▶ "Waiting for connections"
 *                 │ exit 2        │ exit 100           │ exit 48        … until a signal or `shutdown`: exit 0
 *
 * Exit codes, log lines and their numbers are MongoDB's, so that harnesses (mongodb-memory-server, container
 * checks, scripts) can't tell; what it is, it says in `--version`, in buildInfo and as a start-up warning.
 * Everything is in memory and, but for `--storageEngine inMemory`, in a journal (journalFile.ts).
 *
 * Started by the shell script `lib/bin/mongod`; where there is no shell, by `node dist/lib/bin/mongod.js`. Two
 * environment variables are for the engine `process`: SHARDLAB_NODE, the node to run, and SHARDLAB_SEED, which
 * repeats its random choices.
 */
import { SERVER_VERSION } from "../protocol/release.js";
import { OptionsError, readCommandLine } from "./commandLine.js";
import { helpText } from "./optionTable.js";

/** The name it was called by, for messages and getCmdLineOpts. */
const program = process.env["SHARDLAB_PROGRAM"] ?? "mongod";
const words = process.argv.slice(2);

try {
  const settings = readCommandLine(words);
  if (settings.help) process.stdout.write(helpText());
  else if (settings.version) process.stdout.write(`db version v${SERVER_VERSION}\n`);
  else await (await import("./server.js")).runServer(settings, [program, ...words]);
} catch (error) {
  if (!(error instanceof OptionsError)) throw error;
  process.stderr.write(`${error.message}\ntry '${program} --help' for more information\n`);
  process.exitCode = 2;
}

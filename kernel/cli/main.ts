#!/usr/bin/env node
/**
 * The command line: finds the command, loads its file, prints its failures.
 *
 * A failure the user can put right is one line on stderr, `shardlab: <cause>;
 * <remedy>`, and a non-zero exit code. Anything else is a fault of ours: also
 * one line, with the stack when SHARDLAB_DEBUG is set.
 */
import { createRequire } from "node:module";
import { CliError, ExitCode } from "./command.js";
import type { Command } from "./command.js";

/** The commands, in the order of the help text. Each is loaded when it is asked for. */
const commands: Record<string, () => Promise<{ command: Command }>> = {
  run: () => import("./run.js"),
  cluster: () => import("./cluster.js"),
  build: () => import("./build.js"),
};

process.stdout.on("error", leaveQuietlyOnBrokenPipe);
process.stderr.on("error", leaveQuietlyOnBrokenPipe);
const exitCode = await main(process.argv.slice(2)).catch(report);
flushThenExit(exitCode);

async function main(args: string[]): Promise<number> {
  const [word, ...rest] = args;
  switch (word) {
    case undefined:
      process.stderr.write(await help());
      return ExitCode.usage;
    case "--help":
    case "-h":
      process.stdout.write(await help());
      return ExitCode.ok;
    case "--version":
    case "-v":
      process.stdout.write(`${version()}\n`);
      return ExitCode.ok;
    case "help":
      return rest[0] === undefined ? main(["--help"]) : main([rest[0], "--help"]);
  }
  const command = await load(word);
  const options = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  if (options.includes("--help") || options.includes("-h")) {
    process.stdout.write(`${command.usage.trimEnd()}\n`);
    return ExitCode.ok;
  }
  return command.run(rest);
}

async function load(name: string): Promise<Command> {
  const loader = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (loader === undefined) {
    const kind = name.startsWith("-") ? "option" : "command";
    throw new CliError(`unknown ${kind} "${name}"; \`shardlab --help\` lists the commands`);
  }
  return (await loader()).command;
}

async function help(): Promise<string> {
  const loaded = await Promise.all(Object.keys(commands).map(load));
  const width = Math.max(...loaded.map((command) => command.name.length));
  const lines = loaded.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return `Shardlab ${version()}: a course about MongoDB shard keys, on a cluster booted in memory.

Usage: shardlab COMMAND [ARGUMENTS]

Commands
${lines.join("\n")}

shardlab COMMAND --help   what a command takes
shardlab --version        the version
`;
}

function version(): string {
  const { version } = createRequire(import.meta.url)("shardlab/package.json") as { version: string };
  return version;
}

/** Prints what went wrong as one line and gives the exit code. */
function report(error: unknown): number {
  const message = error instanceof Error ? error.message : String(error);
  // A message may quote a file's content: nothing in it may move a terminal's cursor.
  const line = message.replace(/\s*\n\s*/g, " ").replace(/[^\P{Cc}\t]+/gu, "�");
  if (error instanceof CliError) {
    process.stderr.write(`shardlab: ${line}\n`);
    return error.exitCode;
  }
  if (error instanceof Error && "remedy" in error) {
    // Errors of the library say their remedy in the message already.
    process.stderr.write(`shardlab: ${line}\n`);
  } else {
    process.stderr.write(`shardlab: unexpected error: ${line}; set SHARDLAB_DEBUG=1 to see where\n`);
  }
  if (process.env.SHARDLAB_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return ExitCode.failed;
}

/** Ends the process once its output is out: nothing a command left open may keep it alive. */
function flushThenExit(code: number): void {
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

/** `shardlab run … | head`: the reader left, and there is nobody to tell. */
function leaveQuietlyOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(ExitCode.failed);
  throw error;
}

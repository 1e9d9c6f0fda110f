/**
 * Finds a real mongod on this machine, for the engine `mongod`; nothing is downloaded here.
 *
 * In this order: the path in SHARDLAB_MONGOD, the one in MONGOMS_SYSTEM_BINARY, the directories of PATH, the
 * caches in which mongodb-memory-server keeps what it downloaded (looked at, never tidied up). The first three
 * name one program; if it is too old, that is said rather than passed over. Of a cache the newest is taken.
 */
import { execFile } from "node:child_process";
import { accessSync, constants, readdirSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { DryMongoBinary } from "mongodb-memory-server-core";
import { ClusterError, ClusterErrorCode } from "../error.js";
import type { Progress } from "./engine.js";
import { ownProgramPath } from "./ownProgram.js";
import type { ProgramChoice } from "./programs.js";

/** The oldest that answers as the router expects: the 8.x line. */
export const OLDEST_MONGOD = [8, 0] as const;

/** How long a program may take to say its version, in milliseconds. */
const VERSION_MS = 20_000;

/** Small figures: a lesson's data is megabytes, and there are several servers. */
const ARGS = ["--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "16"];

const REMEDY =
  "install MongoDB 8 so that mongod is on the PATH, set SHARDLAB_MONGOD to the program, allow a download with --download or SHARDLAB_DOWNLOAD=1, or use --engine process";

/**
 * The mongod that the engine will run.
 * @param download whether one may be downloaded where none is found
 * @throws ClusterError none found, one that can't be used, a download that failed
 */
export async function chooseMongod(download: boolean, progress: Progress): Promise<ProgramChoice> {
  const found = await findMongod();
  if (found) return found;
  if (!download) {
    throw new ClusterError(ClusterErrorCode.engineUnavailable, "no mongod was found on this machine", REMEDY);
  }
  const { downloadMongod } = await import("./download.js");
  const program = await downloadMongod(progress);
  return checked(program, `the downloaded mongod is ${program}`);
}

/**
 * Looks for a mongod.
 * @returns undefined when there is none
 * @throws ClusterError for one that was named and can't be used, and for one that is too old
 */
export async function findMongod(env: NodeJS.ProcessEnv = process.env): Promise<ProgramChoice | undefined> {
  for (const name of ["SHARDLAB_MONGOD", "MONGOMS_SYSTEM_BINARY"]) {
    const named = env[name];
    if (named) return checked(path.resolve(named), `${name} is ${named}`);
  }
  const onPath = lookOnPath(env["PATH"] ?? "");
  if (onPath !== undefined) return checked(onPath, `mongod on the PATH is ${onPath}`);
  for (const cached of await cachedPrograms()) {
    const version = await versionOf(cached).catch(() => undefined);
    if (version !== undefined && isNewEnough(version)) return choice(cached, version);
  }
  return undefined;
}

/**
 * A program that says its version and is new enough.
 * @param origin for the message, how it came into play
 */
async function checked(program: string, origin: string): Promise<ProgramChoice> {
  let version: string;
  try {
    accessSync(program, constants.X_OK);
    version = await versionOf(program);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : reason(error);
    throw new ClusterError(
      ClusterErrorCode.engineUnavailable,
      `${origin}, which can't be used: ${why}`,
      REMEDY,
    );
  }
  if (isNewEnough(version)) return choice(program, version);
  throw new ClusterError(
    ClusterErrorCode.engineUnavailable,
    `${origin}, which is MongoDB ${version}: too old, ${OLDEST_MONGOD.join(".")} or newer is needed`,
    REMEDY,
  );
}

function choice(program: string, version: string): ProgramChoice {
  // Ours under another name needs to know its node; MongoDB's does not look.
  return { path: program, version, args: ARGS, env: () => ({ SHARDLAB_NODE: process.execPath }) };
}

/** @throws Error when the program can't be run, or isn't a mongod */
async function versionOf(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ["--version"], { timeout: VERSION_MS });
  const version = /^\s*db version v?(\d+\.\d+\.\d+)/m.exec(stdout)?.[1];
  if (version === undefined) throw new Error("it does not say a version, so it is no mongod");
  return version;
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > OLDEST_MONGOD[0] || (major === OLDEST_MONGOD[0] && minor >= OLDEST_MONGOD[1]);
}

/** The first `mongod` of PATH that can be executed and isn't our own script. */
function lookOnPath(searchPath: string): string | undefined {
  const name = process.platform === "win32" ? "mongod.exe" : "mongod";
  const own = realpathOrNothing(ownProgramPath());
  return searchPath
    .split(path.delimiter)
    .filter((directory) => directory !== "")
    .map((directory) => path.join(directory, name))
    .find((file) => isExecutable(file) && realpathOrNothing(file) !== own);
}

/** Complete downloads of mongodb-memory-server, the newest first. */
async function cachedPrograms(): Promise<string[]> {
  const options = await DryMongoBinary.generateOptions({ version: "8.2.6" });
  // generateOptions has put a default where no directory was asked for; the four places say more.
  const paths = await DryMongoBinary.generatePaths({ ...options, downloadDir: "" });
  const directories = new Set(
    [paths.resolveConfig, paths.homeCache, paths.modulesCache, paths.relative]
      .filter(Boolean)
      .map((file) => path.dirname(file)),
  );
  const found: { file: string; version: number[] }[] = [];
  for (const directory of directories) {
    const names = listOrNothing(directory);
    for (const name of names) {
      const version = /^mongod-.*-(\d+)\.(\d+)\.(\d+)(?:\.exe)?$/.exec(name)?.slice(1).map(Number);
      // A lock says that somebody is still unpacking it.
      if (!version || names.includes(`${version.join(".")}.lock`)) continue;
      const file = path.join(directory, name);
      if (isExecutable(file)) found.push({ file, version });
    }
  }
  return found.sort((a, b) => compareVersions(b.version, a.version)).map(({ file }) => file);
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return (a[i] ?? 0) - (b[i] ?? 0);
  return 0;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function realpathOrNothing(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

function listOrNothing(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function reason(error: unknown): string {
  const { code, killed, message } = error as NodeJS.ErrnoException & { killed?: boolean };
  if (code === "EACCES") return "it may not be executed";
  if (killed) return `it did not say its version within ${VERSION_MS / 1000} seconds`;
  return message.split("\n")[0] ?? message;
}

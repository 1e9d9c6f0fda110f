/**
 * Downloads a mongod with mongodb-memory-server, into its cache, where it and everybody else finds it again.
 * Only ever called on explicit request. What a failed download leaves is removed: no half file is found later.
 */
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import path from "node:path";
import { DryMongoBinary, MongoBinary } from "mongodb-memory-server-core";
import { MongoBinaryDownload } from "mongodb-memory-server-core/lib/util/MongoBinaryDownload.js";
import { ClusterError, ClusterErrorCode } from "../error.js";
import type { Progress } from "./engine.js";

/** What is downloaded: the release that the simulation follows. */
const VERSION = "8.2.6";
const MEGABYTE = 1024 * 1024;
/** A line at most this often, in milliseconds. */
const REPORT_EVERY = 2_000;

/**
 * Downloads mongod, or finds that it is there already.
 * @returns path of the program
 * @throws ClusterError one line: no network, no build for this system
 */
export async function downloadMongod(progress: Progress): Promise<string> {
  const { downloadDir } = await DryMongoBinary.generateOptions({ version: VERSION });
  const existed = existsSync(downloadDir);
  const before = new Set(existed ? readdirSync(downloadDir) : []);
  const restore = reportTo(progress);
  progress(`downloading MongoDB ${VERSION} to ${downloadDir}`);
  try {
    return await MongoBinary.getPath({ version: VERSION, downloadDir });
  } catch (error) {
    removeNew(downloadDir, before, existed);
    const why = error instanceof Error ? error.message.split("\n").join(" ").trim() : String(error);
    throw new ClusterError(
      ClusterErrorCode.engineUnavailable,
      `MongoDB ${VERSION} could not be downloaded: ${why}`,
      "check the network, set SHARDLAB_MONGOD to a mongod that you have, or use --engine process",
      { cause: error },
    );
  } finally {
    restore();
  }
}

/** Has the downloader report to us; by itself it writes to standard output, where others read JSON. */
function reportTo(progress: Progress): () => void {
  const downloader = MongoBinaryDownload.prototype;
  const original = downloader.printDownloadProgress;
  downloader.printDownloadProgress = function (chunk: { length: number }, force = false): void {
    const { dlProgress } = this;
    dlProgress.current += chunk.length;
    const now = Date.now();
    if (!force && now - dlProgress.lastPrintedAt < REPORT_EVERY) return;
    dlProgress.lastPrintedAt = now;
    const percent = dlProgress.length > 0 ? Math.round((100 * dlProgress.current) / dlProgress.length) : 0;
    progress(
      `downloading MongoDB ${VERSION}: ${percent} % (${(dlProgress.current / MEGABYTE).toFixed(1)} of ${(dlProgress.length / MEGABYTE).toFixed(1)} MB)`,
    );
  };
  return () => {
    downloader.printDownloadProgress = original;
  };
}

/** Takes away what this download has put there: archive, lock, half a program. Others' files stay. */
function removeNew(directory: string, before: ReadonlySet<string>, existed: boolean): void {
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    if (!before.has(name) && name.includes(VERSION)) rmSync(path.join(directory, name), { force: true });
  }
  if (!existed && existsSync(directory) && readdirSync(directory).length === 0) rmdirSync(directory);
}

/**
 * A server's journal on disk: `shardlab.journal` in the directory of `--dbpath`.
 *
 *     header │ length, checksum, frames │ length, checksum, frames │ …        one group a command
 *
 * What a command changed is written before its reply goes out, so a server that is killed has all that it has answered
 * for when it starts again. The system writes it to the disk when it likes, or at an orderly end: a power cut may lose
 * the last moments, as with MongoDB and `j: false`. A group that is cut off was answered by nobody and is left out.
 *
 * The file is written anew, as a snapshot without history, at each start and whenever it has grown to several times
 * what is in it; the new one takes the old one's place when it is complete.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { crc32 } from "node:zlib";
import type { Journal, ServerStorage } from "../mongod/index.js";
import { DataDirectoryError } from "./dataDirectory.js";

const NAME = "shardlab.journal";
const HEADER = Buffer.from("Shardlab journal 1\n");
/** Bytes before a group's frames: their length and checksum. */
const GROUP_HEAD = 8;
/** The file is written anew when it is so many times its snapshot's size, and so many bytes, longer. */
const GROWTH = 3;
const MIN_GROWTH = 32 * 1024 * 1024;
/** How often what no command caused (expired documents) is written, in milliseconds: MongoDB's commit interval. */
const INTERVAL_MS = 100;

/** The journal of one server. */
export class JournalFile implements ServerStorage {
  readonly #path: string;
  readonly #onDamage: (copy: string) => void;
  readonly #head = Buffer.alloc(GROUP_HEAD);
  #journal: Journal | undefined;
  #snapshot: (() => Iterable<Uint8Array>) | undefined;
  #file: number | undefined;
  #size = 0;
  #snapshotSize = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param directory must exist, and be this server's alone
   * @param onDamage told where the old file is, when its end can't be read
   */
  constructor(directory: string, onDamage: (copy: string) => void) {
    this.#path = path.join(directory, NAME);
    this.#onDamage = onDamage;
  }

  /**
   * What the last server left.
   * @throws DataDirectoryError for a file that is something else
   */
  get frames(): Iterable<Uint8Array> {
    return existsSync(this.#path) ? this.#read() : [];
  }

  start(journal: Journal, snapshot: () => Iterable<Uint8Array>): void {
    this.#journal = journal;
    this.#snapshot = snapshot;
    this.#writeAnew(snapshot());
    this.#timer = setInterval(() => this.flush(), INTERVAL_MS).unref();
  }

  /** Writes what has changed; to be called before a reply goes out. @throws Error what the system says */
  flush(): void {
    const journal = this.#journal;
    if (!journal || journal.pending === 0 || this.#file === undefined) return;
    this.#writeGroup(this.#file, journal.take());
    if (this.#size > GROWTH * this.#snapshotSize + MIN_GROWTH && this.#snapshot)
      this.#writeAnew(this.#snapshot());
  }

  /** Writes the rest, to the disk itself, and gives the file back. */
  close(): void {
    clearInterval(this.#timer);
    const file = this.#file;
    if (file === undefined) return;
    this.flush();
    this.#file = undefined;
    fsyncSync(file);
    closeSync(file);
  }

  *#read(): Generator<Uint8Array> {
    const size = statSync(this.#path).size;
    const file = openSync(this.#path, "r");
    try {
      const header = read(file, 0, Math.min(size, HEADER.length));
      if (!header.equals(HEADER)) {
        throw new DataDirectoryError(
          `Location28662: Cannot start server. ${this.#path} is not a journal that this version can read. Specify another directory.`,
        );
      }
      for (let at = HEADER.length; at < size;) {
        const group = readGroup(file, at, size);
        if (!group) {
          this.#keepDamaged();
          return;
        }
        yield group;
        at += GROUP_HEAD + group.length;
      }
    } finally {
      closeSync(file);
    }
  }

  /** The file is about to be written anew: what could not be read stays beside it. */
  #keepDamaged(): void {
    const copy = `${this.#path}.damaged`;
    copyFileSync(this.#path, copy);
    this.#onDamage(copy);
  }

  #writeAnew(pieces: Iterable<Uint8Array>): void {
    const fresh = `${this.#path}.new`;
    const file = openSync(fresh, "w");
    this.#size = 0;
    this.#write(file, HEADER);
    for (const piece of pieces) if (piece.length > 0) this.#writeGroup(file, piece);
    fsyncSync(file);
    renameSync(fresh, this.#path);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = file;
    this.#snapshotSize = this.#size;
  }

  #writeGroup(file: number, frames: Uint8Array): void {
    this.#head.writeUInt32LE(frames.length, 0);
    this.#head.writeUInt32LE(crc32(frames), 4);
    this.#write(file, this.#head);
    this.#write(file, frames);
  }

  #write(file: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at);
    this.#size += bytes.length;
  }
}

/** A group's frames; undefined where it is cut off or not what was written. */
function readGroup(file: number, at: number, size: number): Buffer | undefined {
  if (at + GROUP_HEAD > size) return undefined;
  const head = read(file, at, GROUP_HEAD);
  const length = head.readUInt32LE(0);
  if (at + GROUP_HEAD + length > size) return undefined;
  const frames = read(file, at + GROUP_HEAD, length);
  return crc32(frames) === head.readUInt32LE(4) ? frames : undefined;
}

function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length;) {
    const n = readSync(file, bytes, at, length - at, position + at);
    if (n === 0) return bytes.subarray(0, at);
    at += n;
  }
  return bytes;
}

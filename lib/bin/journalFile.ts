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
  rmSync,
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
/** The system takes less than 2 GB at a time. */
const WRITE_BYTES = 1 << 30;

/** Who wants to know what happens to a journal. */
export interface JournalEvents {
  /** The end of the old file can't be read: where the whole of it is now. */
  damaged(copy: string): void;
  /** The file can't be written, once: what has not been kept must not be answered. */
  failed(error: Error): void;
}

/** The journal of one server. */
export class JournalFile implements ServerStorage {
  readonly #path: string;
  readonly #events: JournalEvents;
  readonly #head = Buffer.alloc(GROUP_HEAD);
  #journal: Journal | undefined;
  #snapshot: (() => Iterable<Uint8Array>) | undefined;
  #file: number | undefined;
  #size = 0;
  #snapshotSize = 0;
  #timer: NodeJS.Timeout | undefined;
  #hasFailed = false;

  /** @param directory must exist, and be this server's alone */
  constructor(directory: string, events: JournalEvents) {
    this.#path = path.join(directory, NAME);
    this.#events = events;
  }

  /**
   * What the last server left.
   * @throws DataDirectoryError for a file that is something else
   */
  get frames(): Iterable<Uint8Array> {
    return existsSync(this.#path) ? this.#read() : [];
  }

  /** @throws DataDirectoryError when the file can't be written */
  start(journal: Journal, snapshot: () => Iterable<Uint8Array>): void {
    this.#journal = journal;
    this.#snapshot = snapshot;
    try {
      this.#writeAnew(snapshot());
    } catch (error) {
      throw new DataDirectoryError(
        `FileStreamFailed: Cannot write ${this.#path}: ${(error as Error).message}`,
      );
    }
    this.#timer = setInterval(() => this.flush(), INTERVAL_MS).unref();
  }

  /**
   * Writes what has changed; to be called before a reply goes out.
   * @returns whether it is kept. After a failure nothing is any more: the file may end in half a group, and what would
   * stand behind that nobody could read
   */
  flush(): boolean {
    if (this.#hasFailed) return false;
    const journal = this.#journal;
    if (!journal || journal.pending === 0 || this.#file === undefined) return true;
    return this.#attempt(() => {
      this.#writeGroup(this.#file as number, journal.take());
      if (this.#size > GROWTH * this.#snapshotSize + MIN_GROWTH && this.#snapshot)
        this.#writeAnew(this.#snapshot());
    });
  }

  /** Writes the rest, to the disk itself, and gives the file back. */
  close(): void {
    clearInterval(this.#timer);
    const file = this.#file;
    if (file === undefined) return;
    if (this.flush()) this.#attempt(() => fsyncSync(file));
    closeSync(file);
    this.#file = undefined;
  }

  /** Writes; whether that has succeeded. */
  #attempt(write: () => void): boolean {
    try {
      write();
    } catch (error) {
      this.#hasFailed = true;
      this.#events.failed(error as Error);
    }
    return !this.#hasFailed;
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
    try {
      copyFileSync(this.#path, copy);
    } catch (error) {
      rmSync(copy, { force: true });
      throw new DataDirectoryError(
        `FileStreamFailed: Cannot copy ${this.#path}, whose end can't be read: ${(error as Error).message}`,
      );
    }
    this.#events.damaged(copy);
  }

  #writeAnew(pieces: Iterable<Uint8Array>): void {
    const fresh = `${this.#path}.new`;
    const file = openSync(fresh, "w");
    try {
      this.#size = 0;
      this.#write(file, HEADER);
      for (const piece of pieces) if (piece.length > 0) this.#writeGroup(file, piece);
      fsyncSync(file);
      renameSync(fresh, this.#path);
    } catch (error) {
      closeSync(file);
      rmSync(fresh, { force: true }); // the disk may be full
      throw error;
    }
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
    for (let at = 0; at < bytes.length;) {
      at += writeSync(file, bytes, at, Math.min(bytes.length - at, WRITE_BYTES));
    }
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
    const n = readSync(file, bytes, at, Math.min(length - at, WRITE_BYTES), position + at);
    if (n === 0) return bytes.subarray(0, at);
    at += n;
  }
  return bytes;
}

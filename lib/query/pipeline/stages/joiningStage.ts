/** What `$lookup` and `$graphLookup` do with the documents they found: put them into an array, or unwind them. */
import { NULL, array, document, int64, type RawValue } from "../../../bson/index.js";
import { CommandError } from "../../../protocol/index.js";
import type { ReadStats } from "../host.js";
import type { Emit, Stage, UnwindSpec } from "../stage.js";
import { withField } from "./paths.js";

/** Most bytes of documents that may belong to one document. */
const MAX_MATCHED_BYTES = 100 * 1024 * 1024;

/** Counters at their start. */
export function newReadStats(): ReadStats {
  return { docsExamined: 0, keysExamined: 0, collectionScans: 0, indexesUsed: new Set() };
}

/** The documents that belong to one. */
export type Finder = (doc: Uint8Array) => Iterable<Uint8Array>;

export class JoiningStage implements Stage {
  readonly satisfied = false;

  /**
   * @param as where the documents go
   * @param unwinding an `$unwind` of that field to be done as well
   * @param stats counts what `find` examines
   */
  constructor(
    readonly name: string,
    readonly as: readonly string[],
    readonly find: Finder,
    readonly unwinding: UnwindSpec | undefined,
    readonly stats: ReadStats,
  ) {}

  describe(): Record<string, unknown> {
    const { docsExamined, keysExamined, collectionScans, indexesUsed } = this.stats;
    return {
      totalDocsExamined: int64(docsExamined),
      totalKeysExamined: int64(keysExamined),
      collectionScans: int64(collectionScans),
      indexesUsed: [...indexesUsed],
    };
  }

  push(doc: Uint8Array, emit: Emit): void {
    const found = this.find(doc);
    if (this.unwinding) {
      this.#unwound(doc, found, this.unwinding, emit);
      return;
    }
    const matched: RawValue[] = [];
    let bytes = 0;
    for (const other of found) {
      bytes += other.length;
      if (bytes > MAX_MATCHED_BYTES) {
        throw new CommandError(
          4568,
          `Total size of documents matching pipeline's ${this.name} stage exceeds ${MAX_MATCHED_BYTES} bytes`,
        );
      }
      matched.push(document(other));
    }
    emit(withField(doc, this.as, array(matched)));
  }

  finish(): void {
    // Nothing is held back.
  }

  #unwound(doc: Uint8Array, found: Iterable<Uint8Array>, unwinding: UnwindSpec, emit: Emit): void {
    const { index, preserve } = unwinding;
    let n = 0;
    for (const other of found) {
      const joined = withField(doc, this.as, document(other));
      const more = emit(index ? withField(joined, index, int64(n)) : joined);
      n++;
      if (more === false) return;
    }
    if (n > 0 || !preserve) return;
    const alone = withField(doc, this.as, undefined);
    emit(index ? withField(alone, index, NULL) : alone);
  }
}

/**
 * Which documents of a collection have changed since somebody began to listen: their `_id`s, each once, in the order of
 * their latest change.
 *
 *     start ─ insert 1 ─ insert 2 ─ update 1 ─ delete 3 ─► 2, 1, 3
 *
 * Whoever copies the collection meanwhile looks at these documents again: what is there now, or that nothing is. So it
 * does not matter how often a document has changed, or what the copy saw of it. A real server reads the same from its
 * oplog.
 */
import type { RawValue } from "../../bson/index.js";
import { getField, rawValue, sortableValue } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";

/** Documents that are remembered at most. */
const MOST = 2_000_000;

/** The `_id` of a document that has changed, and its number in the order of changes. */
interface Change {
  readonly id: RawValue;
  readonly number: number;
}

/** The documents of one collection that have changed. */
export class WriteCapture {
  private readonly changes = new Map<string, Change>();
  private last = 0;
  private overflowed = false;

  /** @param owner says whose capture it is: 16 bytes of a UUID as text */
  constructor(readonly owner: string) {}

  /** A document was stored, replaced or deleted. */
  note(document: Uint8Array): void {
    const id = getField(document, "_id");
    if (!id || this.overflowed) return;
    const key = sortableValue(id);
    this.changes.delete(key);
    this.changes.set(key, { id: copied(id), number: ++this.last });
    if (this.changes.size <= MOST) return;
    this.overflowed = true;
    this.changes.clear();
  }

  /**
   * The next changes in order; those that the listener has got are forgotten.
   * @param after number of the last change that it has got; 0 for none
   * @param most how many at most
   * @throws CommandError ExceededMemoryLimit (146) when there were too many to remember
   */
  fetch(after: number, most: number): { ids: RawValue[]; last: number; more: boolean } {
    if (this.overflowed) {
      throw new CommandError(ErrorCode.ExceededMemoryLimit, `more than ${MOST} documents have changed`);
    }
    const ids: RawValue[] = [];
    let last = after;
    for (const [key, { id, number }] of this.changes) {
      if (number <= after) {
        this.changes.delete(key);
        continue;
      }
      if (ids.length === most) return { ids, last, more: true };
      ids.push(id);
      last = number;
    }
    return { ids, last, more: false };
  }
}

/** A copy that does not keep a page of documents alive. */
function copied({ type, bytes, start, end }: RawValue): RawValue {
  return rawValue(type, bytes.slice(start, end), 0, end - start);
}

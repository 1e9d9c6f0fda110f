/**
 * Changes in a document, leaving the rest of its bytes alone.
 *
 * An {@link EditableNode} is an object or array opened for editing: its fields
 * as names with raw values, a nested one opened only when a path leads into
 * it. Writing it back copies what was not touched byte for byte, whole runs of
 * fields at a time, keeps the order of fields and appends new ones at the end.
 *
 *     { _id: 7, tags: […], n: 1, text: "…" }   n set to 2
 *     └─ copied ────────┘  new  └─ copied ─┘
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  asDocument,
  document,
  elements,
  forEachField,
  arrayDocument,
  type RawValue,
} from "../../bson/index.js";

/** One field, or one element of an array. */
export interface Member {
  /** The field's name; "" in arrays, where the place counts. */
  readonly name: string;
  value: RawValue;
  /** Where the whole field, name and all, lies in the original bytes; -1 for a value that is new. */
  from: number;
  /** The value opened for editing. */
  node?: EditableNode;
  removed?: true;
}

/** Look-ups by walking the list before an index of the names is made, and names from which on it pays. */
const WALKS = 4;
const FEW_NAMES = 16;

export class EditableNode {
  readonly isArray: boolean;
  readonly #members: Member[] = [];
  readonly #original: RawValue;
  readonly #bytes: Uint8Array;
  #byName: Map<string, Member> | undefined;
  #walks = 0;
  #changed = false;

  constructor(value: RawValue) {
    this.#original = value;
    this.isArray = value.type === BsonType.array;
    this.#bytes = asDocument(value);
    let from = 4;
    const add = (name: string, member: RawValue): void => {
      this.#members.push({ name, value: member, from });
      from = member.end;
    };
    if (this.isArray) for (const element of elements(this.#bytes)) add("", element);
    else forEachField(this.#bytes, add);
  }

  static of(doc: Uint8Array): EditableNode {
    return new EditableNode(document(doc));
  }

  get changed(): boolean {
    return this.#changed;
  }

  /** The fields that are there, in order. */
  get members(): Member[] {
    return this.#members.filter((member) => !member.removed);
  }

  /** The number of an array's elements. */
  get length(): number {
    return this.#members.length;
  }

  find(name: string): Member | undefined {
    if (this.isArray) return this.#members[Number(name)];
    if (this.#byName === undefined) {
      if (this.#members.length <= FEW_NAMES || ++this.#walks <= WALKS) return this.#walk(name);
      this.#byName = new Map();
      for (const member of this.#members)
        if (!member.removed && !this.#byName.has(member.name)) this.#byName.set(member.name, member);
    }
    return this.#byName.get(name);
  }

  #walk(name: string): Member | undefined {
    for (const member of this.#members) if (member.name === name && !member.removed) return member;
    return undefined;
  }

  /** The current value of a member. */
  valueOf(member: Member): RawValue {
    return member.node?.changed ? member.node.toValue() : member.value;
  }

  /** The member's object or array, opened; undefined where it is neither. */
  open(member: Member): EditableNode | undefined {
    if (member.node === undefined) {
      const { type } = member.value;
      if (type !== BsonType.object && type !== BsonType.array) return undefined;
      member.node = new EditableNode(member.value);
    }
    return member.node;
  }

  /** Sets a field, in its place or at the end; in an array up to the index is filled with null. */
  set(name: string, value: RawValue): void {
    this.#changed = true;
    const member = this.find(name);
    if (member !== undefined) {
      member.value = value;
      member.from = -1;
      delete member.node;
      return;
    }
    if (this.isArray) {
      const index = Number(name);
      while (this.#members.length < index) this.#members.push({ name: "", value: NULL, from: -1 });
      this.#members.push({ name: "", value, from: -1 });
      return;
    }
    const added = { name, value, from: -1 };
    this.#members.push(added);
    this.#byName?.set(name, added);
  }

  /** Takes a field out; in an array its element becomes null, so that the others keep their places. */
  unset(name: string): boolean {
    const member = this.find(name);
    if (member === undefined) return false;
    if (this.isArray) {
      this.set(name, NULL);
      return true;
    }
    member.removed = true;
    this.#byName?.delete(name);
    this.#changed = true;
    return true;
  }

  /** Says that an opened member below has changed. */
  touch(): void {
    this.#changed = true;
  }

  toValue(): RawValue {
    if (!this.#changed) return this.#original;
    const writer = new DocumentWriter();
    const bytes = this.#bytes;
    let runStart = 0;
    let runEnd = 0;
    this.#members.forEach((member, i) => {
      if (member.removed) return;
      if (member.from >= 0 && !member.node?.changed) {
        if (member.from !== runEnd) {
          writer.elements(bytes, runStart, runEnd);
          runStart = member.from;
        }
        runEnd = member.value.end;
        return;
      }
      writer.elements(bytes, runStart, runEnd);
      runStart = runEnd = 0;
      writer.field(this.isArray ? String(i) : member.name, this.valueOf(member));
    });
    writer.elements(bytes, runStart, runEnd);
    const doc = writer.finish();
    return this.isArray ? arrayDocument(doc) : document(doc);
  }

  /** The document; the very same bytes where nothing changed. */
  toDocument(): Uint8Array {
    return asDocument(this.toValue());
  }
}

/** `value` wrapped into objects along `names`: (["b", "c"], 1) → { b: { c: 1 } }. */
export function nest(names: readonly string[], value: RawValue): RawValue {
  return names.reduceRight(
    (inner: RawValue, name) => document(new DocumentWriter().field(name, inner).finish()),
    value,
  );
}

/**
 * A document with the value at a path replaced or, where it is missing,
 * created in objects along the way. Arrays are not entered; a scalar in the
 * way is replaced by an object. Undefined as value takes the field out.
 */
export function withPath(doc: Uint8Array, parts: readonly string[], value: RawValue | undefined): Uint8Array {
  const root = EditableNode.of(doc);
  return setPath(root, parts, value) ? root.toDocument() : doc;
}

/** {@link withPath} within an opened document; false where there was nothing to take out. */
export function setPath(root: EditableNode, parts: readonly string[], value: RawValue | undefined): boolean {
  const trail: EditableNode[] = [root];
  for (let i = 0; i < parts.length - 1; i++) {
    const node = trail[i]!;
    const member = node.find(parts[i]!);
    const inner =
      member === undefined || member.value.type === BsonType.array ? undefined : node.open(member);
    if (inner === undefined) {
      if (value === undefined) return false;
      node.set(parts[i]!, nest(parts.slice(i + 1), value));
      for (const opened of trail) opened.touch();
      return true;
    }
    trail.push(inner);
  }
  const last = parts.at(-1)!;
  if (value === undefined) trail.at(-1)!.unset(last);
  else trail.at(-1)!.set(last, value);
  for (const opened of trail) opened.touch();
  return true;
}

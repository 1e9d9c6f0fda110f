/**
 * Changes in a document, leaving the rest of its bytes alone.
 *
 * An {@link EditableNode} is an object or array opened for editing: its fields
 * as names with raw values, a nested one opened only when a path leads into
 * it. Writing it back copies what was not opened byte for byte, keeps the
 * order of fields and appends new ones at the end.
 */
import {
  BsonType,
  DocumentWriter,
  NULL,
  array,
  asDocument,
  document,
  elements,
  fields,
  type RawValue,
} from "../../bson/index.js";

interface Member {
  name: string;
  value: RawValue;
  /** The value opened for editing. */
  node?: EditableNode;
}

export class EditableNode {
  readonly isArray: boolean;
  readonly members: Member[];
  #changed = false;
  readonly #original: RawValue;

  constructor(value: RawValue) {
    this.#original = value;
    this.isArray = value.type === BsonType.array;
    const doc = asDocument(value);
    this.members = this.isArray
      ? elements(doc).map((element, i) => ({ name: String(i), value: element }))
      : fields(doc).map(([name, member]) => ({ name, value: member }));
  }

  static of(doc: Uint8Array): EditableNode {
    return new EditableNode(document(doc));
  }

  get changed(): boolean {
    return this.#changed;
  }

  find(name: string): Member | undefined {
    if (this.isArray) return this.members[Number(name)];
    for (const member of this.members) if (member.name === name) return member;
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
      delete member.node;
      return;
    }
    if (this.isArray) {
      const index = Number(name);
      while (this.members.length < index)
        this.members.push({ name: String(this.members.length), value: NULL });
    }
    this.members.push({ name, value });
  }

  /** Takes a field out; in an array its element becomes null, so that the others keep their places. */
  unset(name: string): boolean {
    const member = this.find(name);
    if (member === undefined) return false;
    if (this.isArray) {
      if (member.value.type === BsonType.null) return false;
      this.set(name, NULL);
      return true;
    }
    this.members.splice(this.members.indexOf(member), 1);
    this.#changed = true;
    return true;
  }

  /** Says that an opened member below has changed. */
  touch(): void {
    this.#changed = true;
  }

  toValue(): RawValue {
    if (!this.#changed) return this.#original;
    if (this.isArray) return array(this.members.map((member) => this.valueOf(member)));
    const writer = new DocumentWriter();
    for (const member of this.members) writer.field(member.name, this.valueOf(member));
    return document(writer.finish());
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
  const trail: EditableNode[] = [root];
  for (let i = 0; i < parts.length - 1; i++) {
    const node = trail[i]!;
    const member = node.find(parts[i]!);
    const inner =
      member === undefined || member.value.type === BsonType.array ? undefined : node.open(member);
    if (inner === undefined) {
      if (value === undefined) return doc;
      node.set(parts[i]!, nest(parts.slice(i + 1), value));
      for (const opened of trail) opened.touch();
      return root.toDocument();
    }
    trail.push(inner);
  }
  const last = parts.at(-1)!;
  if (value === undefined) trail.at(-1)!.unset(last);
  else trail.at(-1)!.set(last, value);
  for (const opened of trail) opened.touch();
  return root.toDocument();
}

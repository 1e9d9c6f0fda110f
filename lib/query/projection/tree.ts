/**
 * Projections as trees, applied while a document is walked once.
 *
 *     { _id: 0, a: 1, "b.c": 1, d: { $add: ["$x", 1] } }
 *
 *       (keep listed)
 *        ├ a   keep
 *        ├ b ─ (keep listed) ─ c keep
 *        └ d   computed
 *
 * A kept field keeps its place in the document: the projection's own order
 * matters only for computed fields. `$project` appends those, `$addFields` and
 * find's `$slice` put them in the place of the old value. Arrays on a path are
 * entered: "b.c" keeps c in every object of b, and drops elements that are no
 * objects (an exclusion keeps those).
 */
import {
  BsonType,
  DocumentWriter,
  array,
  asDocument,
  document,
  elements,
  EMPTY_DOCUMENT,
  forEachField,
  type RawValue,
} from "../../bson/index.js";
import { expressionContext, type Expression, type ExpressionContext } from "../expression/context.js";

/** What becomes of the fields that the tree doesn't list. */
export type Rest = "drop" | "keep";

export type ProjectionEntry =
  | { readonly kind: "keep" }
  | { readonly kind: "drop" }
  | {
      readonly kind: "compute";
      readonly expression: Expression;
      /** In the place of the field of that name, where there is one, or behind all existing fields. */
      readonly place: "here" | "end";
    }
  | { readonly kind: "tree"; readonly tree: ProjectionTree };

/** One level of a projection. */
export class ProjectionTree {
  readonly entries = new Map<string, ProjectionEntry>();
  /** Some entry here or below is computed. */
  computes = false;

  constructor(readonly rest: Rest) {}

  /** Works out {@link computes}; call it when the tree is complete. */
  noteComputed(): boolean {
    for (const entry of this.entries.values())
      if (entry.kind === "compute" || (entry.kind === "tree" && entry.tree.noteComputed()))
        this.computes = true;
    return this.computes;
  }

  /** Applies the tree to a document; expressions see that document as root. */
  apply(doc: Uint8Array): Uint8Array {
    return this.#project(doc, this.computes ? expressionContext(doc) : undefined);
  }

  #project(doc: Uint8Array, context: ExpressionContext | undefined): Uint8Array {
    const writer = new DocumentWriter();
    let met: Set<string> | undefined; // made where it is needed: most computed fields are new
    forEachField(doc, (name, value) => {
      const entry = this.entries.get(name);
      if (entry === undefined) {
        if (this.rest === "keep") writer.field(name, value);
        return;
      }
      switch (entry.kind) {
        case "keep":
          writer.field(name, value);
          return;
        case "drop":
          return;
        case "compute": {
          if (entry.place === "end") return;
          (met ??= new Set()).add(name);
          const computed = entry.expression(context!);
          if (computed !== undefined) writer.field(name, computed);
          return;
        }
        case "tree": {
          if (entry.tree.computes) (met ??= new Set()).add(name);
          const inner = entry.tree.#projectValue(value, context);
          if (inner !== undefined) writer.field(name, inner);
        }
      }
    });
    if (context !== undefined) this.#appendComputed(writer, met, context);
    return writer.finish();
  }

  #appendComputed(
    writer: DocumentWriter,
    met: ReadonlySet<string> | undefined,
    context: ExpressionContext,
  ): void {
    for (const [name, entry] of this.entries) {
      if (met?.has(name)) continue;
      if (entry.kind === "compute") {
        const computed = entry.expression(context);
        if (computed !== undefined) writer.field(name, computed);
      } else if (entry.kind === "tree" && entry.tree.computes) {
        writer.document(name, entry.tree.#project(EMPTY_DOCUMENT, context));
      }
    }
  }

  /** A value below a path of the projection; undefined where it is dropped. */
  #projectValue(value: RawValue, context: ExpressionContext | undefined): RawValue | undefined {
    if (value.type === BsonType.object) return document(this.#project(asDocument(value), context));
    if (value.type === BsonType.array) {
      const kept: RawValue[] = [];
      for (const element of elements(asDocument(value))) {
        const projected = this.#projectValue(element, context);
        if (projected !== undefined) kept.push(projected);
      }
      return array(kept);
    }
    // A scalar where the projection goes deeper: computing makes an object of it.
    if (this.computes) return document(this.#project(EMPTY_DOCUMENT, context));
    return this.rest === "keep" ? value : undefined;
  }
}

/**
 * What `$out` and `$merge` do to a collection when their pipeline has ended.
 *
 * `$out` fills a collection of its own beside the target, with the target's
 * options and indexes, and puts it in the target's place when all went well:
 * until then, and for ever if something fails, the target is as it was.
 * `$merge` writes document by document; what it wrote before a failure stays.
 */
import type { RawValue } from "../bson/index.js";
import {
  compareValues,
  DocumentWriter,
  FieldPath,
  getField,
  NULL,
  prependField,
  sameCollation,
} from "../bson/index.js";
import { CommandError, ErrorCode, MAX_BSON_OBJECT_BYTES } from "../protocol/index.js";
import type { ExpressionOptions, MergeModes, Source } from "../query/index.js";
import { mergedFields, mergeKeyValue } from "../query/index.js";
import type { PipelineRun } from "./pipelineHost.js";
import { planQuery } from "./planner/plan.js";
import { compileQuery } from "./planner/query.js";
import type { Collection } from "./storage/collection.js";
import type { CollectionIndex } from "./storage/collectionIndex.js";
import { DuplicateKeyError } from "./storage/collectionIndex.js";
import { insertDocument } from "./write/insertDocument.js";
import { checkNesting, MAX_NESTING } from "./write/nesting.js";
import { checkDocument } from "./write/validation.js";

export class PipelineWriter {
  constructor(private readonly run: PipelineRun) {}

  /** @throws CommandError CommandNotSupportedOnView (166), 17152 for a capped collection */
  checkOut(target: Source): void {
    const namespace = `${target.db}.${target.collection}`;
    const collection = this.collection(namespace);
    if (collection?.settings.capped)
      throw new CommandError(17152, `namespace '${namespace}' is capped so it can't be used for $out`);
  }

  /** Replaces the content of a collection, which is made where there is none. */
  out(target: Source, documents: readonly Uint8Array[]): void {
    const { server } = this.run;
    const { catalog, cursors } = server;
    this.checkOut(target);
    const namespace = `${target.db}.${target.collection}`;
    const existing = catalog.find(namespace);
    const temporary = catalog.create(this.temporaryName(target.db), existing?.settings);
    try {
      if (existing) temporary.createIndexes(existing.indexes.slice(1).map(({ spec }) => spec));
      for (const doc of documents) {
        this.run.interrupt.step();
        this.insert(temporary, doc);
      }
    } catch (error) {
      catalog.drop(temporary.namespace);
      throw error;
    }
    if (existing) {
      catalog.drop(namespace);
      cursors.collectionDropped(namespace);
    }
    catalog.rename(temporary, namespace);
  }

  private insert(collection: Collection, doc: Uint8Array): void {
    insertDocument(this.run.server, collection, doc, { ...this.checks, bypassEmptyTsReplacement: true });
  }

  private get checks(): { bypassDocumentValidation: boolean } {
    return { bypassDocumentValidation: this.run.bypassValidation };
  }

  private temporaryName(db: string): string {
    const { random } = this.run.server.environment;
    const number = Math.floor(random() * 2 ** 48).toString(16);
    return `${db}.tmp.agg_out.${number}`;
  }

  /** @throws CommandError CommandNotSupportedOnView (166), 51183 where no unique index covers the fields `on` */
  checkMerge(target: Source, modes: MergeModes, options: ExpressionOptions): void {
    this.supportingIndex(target, modes, options);
  }

  /** Merges documents one by one. */
  merge(
    target: Source,
    modes: MergeModes,
    documents: readonly Uint8Array[],
    options: ExpressionOptions,
  ): void {
    const namespace = `${target.db}.${target.collection}`;
    const index = this.supportingIndex(target, modes, options);
    const on = (modes.on ?? ["_id"]).map((path) => new FieldPath(path));
    for (const doc of documents) {
      this.run.interrupt.step();
      const key = on.map((path) => mergeKeyValue(doc, path, index?.spec.sparse ?? false));
      // Nothing is made until there is something to put into it.
      const collection = this.collection(namespace);
      const record = collection && this.find(collection, on, key, options);
      if (record !== undefined) this.matched(collection!, record, doc, modes);
      else this.notMatched(namespace, doc, modes);
    }
  }

  private collection(namespace: string): Collection | undefined {
    return this.run.server.catalog.findCollection(namespace);
  }

  /** The unique index over exactly the fields `on`; undefined for `_id` of a collection that does not exist yet. */
  private supportingIndex(
    target: Source,
    { on }: MergeModes,
    { collation }: ExpressionOptions,
  ): CollectionIndex | undefined {
    const collection = this.collection(`${target.db}.${target.collection}`);
    const wanted = new Set(on ?? ["_id"]);
    if (wanted.size === 1 && wanted.has("_id") && (!collection || on === undefined)) return undefined;
    const found = collection?.indexes.find(({ spec }) => {
      const paths = spec.fields.map(({ path }) => path);
      return (
        spec.unique &&
        spec.partialFilter === undefined &&
        paths.length === wanted.size &&
        paths.every((path) => wanted.has(path)) &&
        sameCollation(spec.collation, collation)
      );
    });
    if (!found) throw new CommandError(51183, "Cannot find index to verify that join fields will be unique");
    return found;
  }

  private find(
    collection: Collection,
    on: readonly FieldPath[],
    key: readonly (RawValue | undefined)[],
    options: ExpressionOptions,
  ): number | undefined {
    if (key.includes(undefined)) return undefined;
    const filter = new DocumentWriter();
    on.forEach(({ path }, i) => filter.document(path, new DocumentWriter().field("$eq", key[i]!).finish()));
    const query = compileQuery({ filter: filter.finish(), limit: 1 }, options);
    const root = planQuery(collection, query, this.run.interrupt);
    return root.next() ? root.recordId : undefined;
  }

  private matched(collection: Collection, record: number, doc: Uint8Array, modes: MergeModes): void {
    const existing = collection.records.get(record)!;
    switch (modes.whenMatched) {
      case "keepExisting":
        return;
      case "fail":
        throw withContext(
          new DuplicateKeyError(collection.namespace, collection.idIndex.spec, idOf(existing)),
          "$merge with whenMatched: fail found an existing document with the same values for the 'on' fields",
        );
      case "replace":
        return this.change(collection, record, existing, doc);
      case "merge":
        return this.change(collection, record, existing, mergedFields(existing, doc));
      case "pipeline":
        return this.change(collection, record, existing, modes.change!(existing, doc));
    }
  }

  private change(collection: Collection, record: number, existing: Uint8Array, changed: Uint8Array): void {
    const id = getField(existing, "_id")!;
    const after = getField(changed, "_id");
    if (after !== undefined && compareValues(after, id) !== 0) {
      throw new CommandError(
        ErrorCode.ImmutableField,
        "$merge failed to update the matching document, did you attempt to modify the _id or the shard key? " +
          ":: caused by :: Performing an update on the path '_id' would modify the immutable field '_id'",
      );
    }
    const complete = after === undefined ? prependField(changed, "_id", id) : changed;
    if (complete.length > MAX_BSON_OBJECT_BYTES) {
      throw new CommandError(
        17419,
        `Resulting document after update is larger than ${MAX_BSON_OBJECT_BYTES}`,
      );
    }
    if (sameBytes(existing, complete)) return;
    checkNesting(complete, `Document exceeds maximum nesting depth of ${MAX_NESTING}`);
    checkDocument(this.run.server, collection, complete, this.checks, existing);
    collection.update(record, complete);
  }

  private notMatched(namespace: string, doc: Uint8Array, modes: MergeModes): void {
    switch (modes.whenNotMatched) {
      case "discard":
        return;
      case "fail":
        throw new CommandError(
          ErrorCode.MergeStageNoMatchingDocument,
          "$merge could not find a matching document in the target collection for at least one document in the source collection",
        );
      case "insert":
        this.insert(this.run.server.catalog.findOrCreate(namespace), doc);
    }
  }
}

function idOf(doc: Uint8Array): Uint8Array {
  return new DocumentWriter().field("_id", getField(doc, "_id") ?? NULL).finish();
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The same failure with a clause in front of its message. */
function withContext(error: DuplicateKeyError, context: string): DuplicateKeyError {
  error.message = `${context} :: caused by :: ${error.message}`;
  return error;
}

/**
 * From an access to the stages of a plan.
 *
 *     LIMIT ← PROJECTION ← SKIP ← SORT ← FETCH ← IXSCAN
 *
 * What is not needed is left out: FETCH where the index has all that sort and
 * projection ask for, SORT where the access is in order already, LIMIT where
 * SORT keeps no more than that. A projection goes below the SORT where it makes
 * what is sorted smaller.
 */
import { EMPTY_DOCUMENT } from "../../bson/index.js";
import type { DocumentMeta, FilterNode } from "../../query/index.js";
import { filterOf, isSimpleProjection, projectedPaths, StageMemory } from "../../query/index.js";
import type { Collection } from "../storage/collection.js";
import type { CollectionIndex } from "../storage/collectionIndex.js";
import { isFetched, scansOf, type Access, type IndexAccess, type ScanAccess } from "./access.js";
import { KeyDocuments, provides } from "./covering.js";
import type { Interrupt } from "./interrupt.js";
import type { PlanStage } from "./planStage.js";
import { matchesEverything, type Query } from "./query.js";
import { CollectionScan } from "./stages/collectionScan.js";
import { Fetch } from "./stages/fetch.js";
import { IndexScan } from "./stages/indexScan.js";
import { AddRecordId, Limit, Projection, ReturnKey, Skip, type ProjectionKind } from "./stages/shaping.js";
import { SortKeyGenerator, SortStage } from "./stages/sort.js";
import { OrStage, SortMergeStage } from "./stages/unions.js";

/** A plan, and what the choice among plans wants to know of it. */
export interface BuiltPlan {
  readonly root: PlanStage;
  readonly hasFetch: boolean;
  readonly hasSort: boolean;
}

/** What plans are built for. */
export interface BuildContext {
  readonly collection: Collection;
  readonly query: Query;
  readonly interrupt: Interrupt;
}

/**
 * Builds the whole plan.
 * @param ordered the access gives the query's order
 */
export function buildPlan(access: Access, ordered: boolean, context: BuildContext): BuiltPlan {
  return new Builder(access, ordered, context).build();
}

class Builder {
  private readonly collection: Collection;
  private readonly query: Query;
  private readonly mustSort: boolean;
  private readonly needs: { readonly fetchBeforeSort: boolean; readonly fetchAtAll: boolean };
  private hasFetch = false;
  // Asked for each scan, of which an `$or` can have thousands.
  private readonly isFetched: boolean;
  /** The indexes that are scanned, each once. */
  private readonly indexes: readonly CollectionIndex[];

  constructor(
    private readonly access: Access,
    ordered: boolean,
    private readonly context: BuildContext,
  ) {
    this.collection = context.collection;
    this.query = context.query;
    this.mustSort = this.query.sort !== undefined && !ordered;
    this.isFetched = isFetched(access);
    this.indexes =
      access.kind === "collection" ? [] : [...new Set(scansOf(access).map(({ index }) => index))];
    this.needs = this.fetchNeeds();
  }

  build(): BuiltPlan {
    const { query } = this;
    let stage = this.reading();
    let isDocument = this.isFetched;
    if (!isDocument && this.needs.fetchBeforeSort) {
      stage = this.fetch(stage, undefined);
      isDocument = true;
    }
    const projectsFirst = this.mustSort && this.projectsBelowSort();
    if (projectsFirst) stage = this.project(stage, isDocument);
    if (this.mustSort) stage = this.sort(stage, isDocument);
    if (query.skip > 0) stage = new Skip(stage, query.skip);
    if (!isDocument && this.needs.fetchAtAll) {
      stage = this.fetch(stage, undefined);
      isDocument = true;
    }
    if (query.returnKey) stage = new ReturnKey(stage, EMPTY_DOCUMENT);
    else if (!projectsFirst) stage = this.project(stage, isDocument);
    if (query.limit > 0 && !this.mustSort) stage = new Limit(stage, query.limit);
    return { root: stage, hasFetch: this.hasFetch, hasSort: this.mustSort };
  }

  /** When documents must be read that the access does not read by itself. */
  private fetchNeeds(): { fetchBeforeSort: boolean; fetchAtAll: boolean } {
    const { query, access } = this;
    if (access.kind === "collection") return { fetchBeforeSort: false, fetchAtAll: false };
    const sortPaths = query.sort?.compiled.fields.map(({ path }) => path) ?? [];
    const sortsByKeys = provides(access, sortPaths);
    const fetchAtAll = !query.returnKey && !query.countLike && !this.isCovered(access);
    return { fetchBeforeSort: this.mustSort && !sortsByKeys, fetchAtAll };
  }

  private isCovered(access: IndexAccess): boolean {
    const { projection, showRecordId } = this.query;
    if (!projection || projection.usesMeta || showRecordId) return false;
    const paths = projectedPaths(projection.spec)?.paths;
    // Which of several indexes a record came from would decide what it looks like.
    const [first, ...others] = scansOf(access);
    if (!paths || !first || others.some(({ index }) => index !== first.index)) return false;
    return provides(access, paths);
  }

  /** The stages that find the records. */
  private reading(): PlanStage {
    const { access, query, collection } = this;
    if (access.kind === "collection") {
      const filter = matchesEverything(query) ? undefined : query.filter;
      const { backward } = access;
      const options = { backward, ...(query.tailable && { tailable: true }) };
      return new CollectionScan(collection, filter, options, this.context.interrupt);
    }
    for (const { index } of scansOf(access)) index.accesses++;
    if (access.kind === "scan") return this.scan(access);
    const branches = access.branches.map((branch) => this.scan(branch));
    const { sort } = query;
    const union =
      access.merged && sort
        ? new SortMergeStage(branches, sort.compiled, sort.pattern, collection, access.overlapping)
        : new OrStage(branches);
    return access.fetchFilter ? this.fetch(union, access.fetchFilter) : union;
  }

  private scan(access: ScanAccess): PlanStage {
    const { query, collection } = this;
    const wantsKeys = query.returnKey === true || query.projection?.usesMeta === true;
    const covers =
      this.access.kind !== "collection" &&
      !this.isFetched &&
      // What a branch of an $or reads whole needs no key document, and its filter may look beyond the key.
      !access.fetchFilter &&
      !this.needs.fetchAtAll &&
      !this.needs.fetchBeforeSort &&
      query.projection !== undefined &&
      !query.countLike;
    const scan = new IndexScan(collection, access, this.context.interrupt, {
      ...(wantsKeys && { keys: new KeyDocuments(access.index) }),
      ...(covers && { covered: new KeyDocuments(access.index) }),
    });
    return access.fetchFilter ? this.fetch(scan, access.fetchFilter) : scan;
  }

  private fetch(input: PlanStage, left: FilterNode | undefined): PlanStage {
    const { query, collection } = this;
    this.hasFetch = true;
    const whole = query.min || query.max || matchesEverything(query) ? undefined : query.filter;
    const filter = left && (left === query.filter.node ? query.filter : filterOf(left));
    return new Fetch(input, collection, { left: filter, whole: whole ?? filter }, this.indexes);
  }

  private sort(input: PlanStage, isDocument: boolean): PlanStage {
    const { query, collection } = this;
    const { compiled, pattern } = query.sort!;
    const wanted = query.limit > 0 ? query.limit + query.skip : 0;
    const memory = StageMemory.of("$sort", query.options);
    return new SortStage(input, compiled, pattern, wanted, isDocument ? undefined : collection, memory);
  }

  /** Whether the projection can come before the sort: it keeps what is sorted by, and all is sorted. */
  private projectsBelowSort(): boolean {
    const { projection, sort, limit, showRecordId, returnKey } = this.query;
    if (!projection || !sort || limit > 0 || returnKey || showRecordId || projection.usesMeta) return false;
    const paths = projectedPaths(projection.spec)?.paths;
    if (!paths) return false;
    const keeps = (path: string): boolean =>
      paths.some((kept) => kept === path || path.startsWith(`${kept}.`));
    return sort.compiled.fields.every(({ path }) => keeps(path));
  }

  private project(input: PlanStage, isDocument: boolean): PlanStage {
    const { projection, sort, showRecordId } = this.query;
    if (!projection) return showRecordId ? new AddRecordId(input, EMPTY_DOCUMENT) : input;
    const { spec, apply, usesMeta } = projection;
    const stage = usesMeta && sort && !this.mustSort ? new SortKeyGenerator(input) : input;
    if (showRecordId) {
      const shaped = new Projection("PROJECTION_DEFAULT", stage, apply, spec, usesMeta && this.metaOf());
      return new AddRecordId(shaped, spec);
    }
    return new Projection(this.kindOf(spec, isDocument), stage, apply, spec, usesMeta && this.metaOf());
  }

  private kindOf(spec: Uint8Array, isDocument: boolean): ProjectionKind {
    if (!isSimpleProjection(spec)) return "PROJECTION_DEFAULT";
    if (isDocument) return "PROJECTION_SIMPLE";
    return this.access.kind === "scan" ? "PROJECTION_COVERED" : "PROJECTION_DEFAULT";
  }

  /** What `$meta` may ask for. */
  private metaOf(): (input: PlanStage) => DocumentMeta {
    const { sort } = this.query;
    return ({ document, recordId, indexKey }) => ({
      recordId,
      ...(indexKey && { indexKey }),
      ...(sort && { sortKey: sort.compiled.values(document) }),
    });
  }
}

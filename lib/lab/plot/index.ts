/**
 * Figures of a lab: where documents are, where writes go.
 *
 * Each function shows its figure (as a picture, an HTML table and text) and returns it
 * with the numbers it was made from.
 */
import type { MongoClient } from "mongodb";
import type { ClusterInfo } from "../../cluster/index.js";
import { rulesFor } from "../../router/index.js";
import { currentLab } from "../startLab.js";
import { readTrace } from "../trace.js";
import { alreadyDisplayed, display } from "../display.js";
import { distributionFigure, readDistribution, splitNamespace } from "./distribution.js";
import type { DistributionFigure } from "./distribution.js";
import { show } from "./figure.js";
import { insertBatches, insertsFigure } from "./inserts.js";
import type { InsertsFigure } from "./inserts.js";

export { distributionFigure, keyText, readDistribution } from "./distribution.js";
export type { Distribution, DistributionFigure, ShardShare } from "./distribution.js";
export { PLOTLY_MIME, toBundle } from "./figure.js";
export type { Figure } from "./figure.js";
export { insertBatches, insertsFigure } from "./inserts.js";
export type { InsertBatch, Inserts, InsertsFigure, TraceEntryLike } from "./inserts.js";
export { shardMarks } from "./palette.js";
export type { ShardMark } from "./palette.js";

/** What a plot needs of a lab. */
export interface PlotLab {
  readonly client: MongoClient;
  readonly info: ClusterInfo;
}

/** Options of `plot.distribution`. */
export interface DistributionOptions {
  /** The lab to look at; default the one opened last. */
  lab?: PlotLab;
}

/** Options of `plot.inserts`. */
export interface InsertsOptions extends DistributionOptions {
  /** Only operations from this number of the trace on (one more than the `n` of the last entry seen). */
  since?: number;
  /** Most columns in the heat map, default 50. */
  columns?: number;
}

/**
 * Documents per shard: counts and shares, orphans left out.
 *
 * @param ns `database.collection`
 * @example await plot.distribution("library.events")
 * @since Shardlab 0.1; works on any sharded cluster of MongoDB 5.0 or later
 */
async function distribution(ns: string, options: DistributionOptions = {}): Promise<DistributionFigure> {
  const lab = options.lab ?? currentLab();
  return show(distributionFigure(await readDistribution(lab.client, ns), scaleNote(lab.info)));
}

/**
 * Heat map of inserts over time per shard, from the router's trace. Time is the order of
 * insert commands.
 *
 * @param ns `database.collection`; all collections when left out
 * @returns the figure, or undefined (and a sentence shown) on an engine that keeps no trace
 * @example await plot.inserts("library.readings")
 * @since Shardlab 0.1
 */
async function inserts(ns?: string, options: InsertsOptions = {}): Promise<InsertsFigure | undefined> {
  if (ns !== undefined) splitNamespace(ns);
  const lab = options.lab ?? currentLab();
  if (!lab.info.capabilities.trace) {
    const why = `The router of engine ${lab.info.engine} keeps no trace, so inserts over time can't be drawn; use engine embedded.`;
    display(alreadyDisplayed({ "text/plain": why }));
    return undefined;
  }
  const trace = await readTrace(lab.client, options.since);
  const figure = insertsFigure(
    {
      ...(ns === undefined ? {} : { ns }),
      shards: lab.info.shards.map((shard) => shard.id),
      batches: insertBatches(trace.entries, ns),
      dropped: options.since === undefined ? trace.dropped : 0,
    },
    options.columns,
    scaleNote(lab.info),
  );
  return show(figure);
}

/** A lab with scaled chunks says so under every figure. */
function scaleNote(info: ClusterInfo): string | undefined {
  const mega = 1024 * 1024;
  if (
    info.chunkSizeBytes === rulesFor(info.rules).chunkSizeMB * mega ||
    !Number.isFinite(info.chunkSizeBytes)
  )
    return undefined;
  const size = info.chunkSizeBytes;
  const text = size >= mega ? `${size / mega} MB` : size >= 1024 ? `${size / 1024} KB` : `${size} bytes`;
  return `Chunk size scaled to ${text}.`;
}

/** Figures of a lab. */
export const plot = { distribution, inserts };

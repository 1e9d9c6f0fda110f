/**
 * What a router does first: bring to an end what an earlier one left, when it was killed in the middle of something.
 *
 *     config.movePrimaries     a database that was on its way to another primary shard
 *     config.drops             a collection that is half dropped
 *     config.renames           a collection on its way to another name
 *     config.migrations        a range of a collection that was on its way to another shard
 *     config.reshardingOperations   a collection that was on its way to another shard key or shard
 *     config.movingDocuments   a document whose key value changed, on its way to another shard
 *
 * Each of these documents is written before the first step and removed after the last one. In between, what the catalog
 * says is the truth: where it has the new state the rest of the way is gone, where it has the old one everything is
 * taken back; a drop always goes on. Where a server that is needed is not there, the namespaces wait until it is
 * (support/unfinished.ts).
 */
import type { RouterContext } from "./context.js";
import { recoverDrops } from "./ddl/dropRecovery.js";
import { recoverMigrations } from "./ddl/migrationRecovery.js";
import { recoverMovePrimaries } from "./ddl/movePrimaryRecovery.js";
import { recoverRenamings } from "./ddl/renameRecovery.js";
import { recoverResharding } from "./resharding/recovery.js";
import { recoverDocuments } from "./writes/moveRecovery.js";

/**
 * Settles what is unfinished, or notes that it is.
 * @throws CommandError when the config server can't be read
 */
export async function recover(context: RouterContext): Promise<void> {
  await recoverMovePrimaries(context);
  await recoverDrops(context);
  await recoverRenamings(context);
  await recoverMigrations(context);
  await recoverResharding(context);
  await recoverDocuments(context);
}

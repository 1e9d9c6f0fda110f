/**
 * `sh`, second part: balancer, zones, settings. Names, arguments and results are mongosh's.
 */
import type { Document, UpdateResult } from "mongodb";
import { checkArguments } from "./shHelpers.js";
import { ShCollections } from "./shCollections.js";

/** Helpers that say where data should be and whether it moves. */
export class ShBalancing extends ShCollections {
  /**
   * Whether the balancer is switched on.
   * @example await lab.sh.getBalancerState(); // true
   * @since MongoDB 2.2
   */
  async getBalancerState(): Promise<boolean> {
    const settings = await this.setting("balancer");
    return settings === null || !(settings["stopped"] as boolean | undefined);
  }

  /**
   * What the balancer is doing.
   * @returns `mode` (`"full"` or `"off"`), `inBalancerRound`, `numBalancerRounds`
   * @example (await lab.sh.isBalancerRunning()).inBalancerRound; // false
   * @since MongoDB 2.2
   */
  async isBalancerRunning(): Promise<Document> {
    return this.admin({ balancerStatus: 1 });
  }

  /**
   * Switches the balancer on.
   * @param timeout milliseconds that it may take
   * @example await lab.sh.startBalancer();
   * @since MongoDB 2.2
   */
  async startBalancer(timeout = 60_000): Promise<Document> {
    checkArguments("startBalancer", [timeout], ["number"]);
    return this.admin({ balancerStart: 1, maxTimeMS: timeout });
  }

  /**
   * Switches the balancer off.
   * @param timeout milliseconds that it may take
   * @example await lab.sh.stopBalancer();
   * @since MongoDB 2.2
   */
  async stopBalancer(timeout = 60_000): Promise<Document> {
    checkArguments("stopBalancer", [timeout], ["number"]);
    return this.admin({ balancerStop: 1, maxTimeMS: timeout });
  }

  /**
   * Switches the balancer on or off.
   * @param state true for on
   * @example await lab.sh.setBalancerState(false);
   * @since MongoDB 2.2
   */
  async setBalancerState(state: boolean): Promise<Document> {
    checkArguments("setBalancerState", [state], ["boolean"]);
    return state ? this.startBalancer() : this.stopBalancer();
  }

  /**
   * Whether a collection's chunks are spread as they should be.
   * @returns `chunkSize` in MB, `balancerCompliant`, and what is wrong if it is not
   * @example await lab.sh.balancerCollectionStatus("library.loans");
   * @since MongoDB 4.4
   */
  async balancerCollectionStatus(namespace: string): Promise<Document> {
    checkArguments("balancerCollectionStatus", [namespace], ["string"]);
    return this.admin({ balancerCollectionStatus: namespace });
  }

  /**
   * Lets the balancer move chunks of a collection again.
   * @example await lab.sh.enableBalancing("library.loans");
   * @since MongoDB 2.2
   */
  async enableBalancing(namespace: string): Promise<UpdateResult> {
    checkArguments("enableBalancing", [namespace], ["string"]);
    return this.changeCollection(namespace, { $set: { noBalance: false } });
  }

  /**
   * Keeps the balancer away from a collection.
   * @example await lab.sh.disableBalancing("library.loans");
   * @since MongoDB 2.2
   */
  async disableBalancing(namespace: string): Promise<UpdateResult> {
    checkArguments("disableBalancing", [namespace], ["string"]);
    return this.changeCollection(namespace, { $set: { noBalance: true } });
  }

  /**
   * Lets chunks of a collection move again.
   * @example await lab.sh.enableMigrations("library.loans");
   * @since MongoDB 5.0
   */
  async enableMigrations(namespace: string): Promise<Document> {
    checkArguments("enableMigrations", [namespace], ["string"]);
    return this.admin({ setAllowMigrations: namespace, allowMigrations: true });
  }

  /**
   * Forbids all moves of a collection's chunks, by hand too.
   * @example await lab.sh.disableMigrations("library.loans");
   * @since MongoDB 5.0
   */
  async disableMigrations(namespace: string): Promise<Document> {
    checkArguments("disableMigrations", [namespace], ["string"]);
    return this.admin({ setAllowMigrations: namespace, allowMigrations: false });
  }

  /**
   * Lets chunks split by themselves; from 6.0.3 they don't, and this changes nothing.
   * @example await lab.sh.enableAutoSplit();
   * @since MongoDB 3.4
   */
  async enableAutoSplit(): Promise<UpdateResult> {
    return this.changeSetting("autosplit", { enabled: true });
  }

  /**
   * Keeps chunks from splitting by themselves; from 6.0.3 they don't anyway.
   * @example await lab.sh.disableAutoSplit();
   * @since MongoDB 3.4
   */
  async disableAutoSplit(): Promise<UpdateResult> {
    return this.changeSetting("autosplit", { enabled: false });
  }

  /**
   * Lets the balancer merge neighbouring chunks of one shard.
   * @example await lab.sh.startAutoMerger();
   * @since MongoDB 7.0
   */
  async startAutoMerger(): Promise<UpdateResult> {
    return this.changeSetting("automerge", { enabled: true });
  }

  /**
   * Keeps the balancer from merging chunks.
   * @example await lab.sh.stopAutoMerger();
   * @since MongoDB 7.0
   */
  async stopAutoMerger(): Promise<UpdateResult> {
    return this.changeSetting("automerge", { enabled: false });
  }

  /**
   * Whether the balancer merges chunks.
   * @example await lab.sh.isAutoMergerEnabled(); // true
   * @since MongoDB 7.0
   */
  async isAutoMergerEnabled(): Promise<boolean> {
    const settings = await this.setting("automerge");
    return settings === null || settings["enabled"] === true;
  }

  /**
   * Lets the balancer merge chunks of a collection.
   * @example await lab.sh.enableAutoMerger("library.loans");
   * @since MongoDB 7.0
   */
  async enableAutoMerger(namespace: string): Promise<UpdateResult> {
    checkArguments("enableAutoMerger", [namespace], ["string"]);
    return this.changeCollection(namespace, { $unset: { enableAutoMerge: 1 } });
  }

  /**
   * Keeps the balancer from merging chunks of a collection.
   * @example await lab.sh.disableAutoMerger("library.loans");
   * @since MongoDB 7.0
   */
  async disableAutoMerger(namespace: string): Promise<UpdateResult> {
    checkArguments("disableAutoMerger", [namespace], ["string"]);
    return this.changeCollection(namespace, { $set: { enableAutoMerge: false } });
  }

  /**
   * Puts a shard into a zone.
   * @param shard its name
   * @param zone e.g. `"EU"`
   * @example await lab.sh.addShardToZone("shardA", "EU");
   * @since MongoDB 3.4
   */
  async addShardToZone(shard: string, zone: string): Promise<Document> {
    checkArguments("addShardToZone", [shard, zone], ["string", "string"]);
    return this.admin({ addShardToZone: shard, zone });
  }

  /**
   * The older name of addShardToZone.
   * @example await lab.sh.addShardTag("shardA", "EU");
   * @since MongoDB 2.2
   */
  async addShardTag(shard: string, tag: string): Promise<Document> {
    checkArguments("addShardTag", [shard, tag], ["string", "string"]);
    return this.addShardToZone(shard, tag);
  }

  /**
   * Takes a shard out of a zone.
   * @example await lab.sh.removeShardFromZone("shardA", "EU");
   * @since MongoDB 3.4
   */
  async removeShardFromZone(shard: string, zone: string): Promise<Document> {
    checkArguments("removeShardFromZone", [shard, zone], ["string", "string"]);
    return this.admin({ removeShardFromZone: shard, zone });
  }

  /**
   * The older name of removeShardFromZone.
   * @example await lab.sh.removeShardTag("shardA", "EU");
   * @since MongoDB 2.2
   */
  async removeShardTag(shard: string, tag: string): Promise<Document> {
    checkArguments("removeShardTag", [shard, tag], ["string", "string"]);
    return this.removeShardFromZone(shard, tag);
  }

  /**
   * Gives a range of shard keys to a zone, or takes it back.
   * @param min where the range begins
   * @param max where it ends, itself not included
   * @param zone null takes exactly this range back
   * @example await lab.sh.updateZoneKeyRange("library.loans", { country: "DE" }, { country: "DF" }, "EU");
   * @since MongoDB 3.4
   */
  async updateZoneKeyRange(
    namespace: string,
    min: Document,
    max: Document,
    zone: string | null,
  ): Promise<Document> {
    checkArguments("updateZoneKeyRange", [namespace, min, max, zone], ["string", "object", "object", true]);
    return this.admin({ updateZoneKeyRange: namespace, min, max, zone });
  }

  /**
   * The older name of updateZoneKeyRange.
   * @example await lab.sh.addTagRange("library.loans", { country: "DE" }, { country: "DF" }, "EU");
   * @since MongoDB 2.2
   */
  async addTagRange(namespace: string, min: Document, max: Document, zone: string): Promise<Document> {
    checkArguments("addTagRange", [namespace, min, max, zone], ["string", "object", "object", true]);
    return this.updateZoneKeyRange(namespace, min, max, zone);
  }

  /**
   * Takes a range of shard keys back from its zone.
   * @example await lab.sh.removeRangeFromZone("library.loans", { country: "DE" }, { country: "DF" });
   * @since MongoDB 3.4
   */
  async removeRangeFromZone(namespace: string, min: Document, max: Document): Promise<Document> {
    checkArguments("removeRangeFromZone", [namespace, min, max], ["string", "object", "object"]);
    return this.updateZoneKeyRange(namespace, min, max, null);
  }

  /**
   * The older name of removeRangeFromZone.
   * @example await lab.sh.removeTagRange("library.loans", { country: "DE" }, { country: "DF" });
   * @since MongoDB 3.0
   */
  async removeTagRange(namespace: string, min: Document, max: Document): Promise<Document> {
    checkArguments("removeTagRange", [namespace, min, max], ["string", "object", "object"]);
    return this.updateZoneKeyRange(namespace, min, max, null);
  }
}

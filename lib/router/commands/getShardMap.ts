/** `getShardMap`: the servers behind the names of the shards and of the config server, and the way back. */
import { okReply } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { Command } from "../context.js";

export const getShardMap: Command = {
  name: "getShardMap",
  adminOnly: true,
  fields: [],
  help: "lists the set of shards known to this router",
  run({ shards }) {
    const all = [...shards.all, shards.get(CONFIG_SHARD)];
    return okReply({
      map: Object.fromEntries(all.map(({ id, host }) => [id, host])),
      hosts: Object.fromEntries(all.flatMap(({ id, host }) => hostsOf(host).map((each) => [each, id]))),
      connStrings: Object.fromEntries(all.map(({ id, host }) => [host, id])),
    });
  },
};

/** `rs/a:1,b:2` → `a:1`, `b:2` */
function hostsOf(connectionString: string): string[] {
  return connectionString.slice(connectionString.indexOf("/") + 1).split(",");
}

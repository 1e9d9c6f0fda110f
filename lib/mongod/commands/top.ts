/** top: how often and how long each collection was used. */
import type { Command } from "../command.js";
import type { NamespaceUse, Use } from "../../protocol/index.js";
import { treeReply } from "../tree.js";

export const top: Command = {
  name: "top",
  fields: [],
  adminOnly: true,
  onSecondary: "always",
  help: "usage by collection, in micros",
  run({ server }) {
    const totals: Record<string, unknown> = { note: "all times in microseconds" };
    const { catalog, statistics } = server;
    for (const namespace of [...statistics.namespaces.keys()].sort()) {
      if (!catalog.find(namespace) && !catalog.findView(namespace)) continue;
      totals[namespace] = describe(statistics.namespaces.get(namespace) as NamespaceUse);
    }
    return treeReply({ totals });
  },
};

function describe(use: NamespaceUse): Record<string, Use> {
  const { queries, getmore, insert, update, remove, commands } = use;
  const readLock = sum([queries, getmore]);
  const writeLock = sum([insert, update, remove]);
  return {
    total: sum([readLock, writeLock, commands]),
    readLock,
    writeLock,
    queries,
    getmore,
    insert,
    update,
    remove,
    commands,
  };
}

function sum(uses: readonly Use[]): Use {
  return uses.reduce((all, { time, count }) => ({ time: all.time + time, count: all.count + count }), {
    time: 0,
    count: 0,
  });
}

/** `currentOp`: the operations going on, on all shards; fields beside its own are a filter on them. */
import { DocumentWriter, forEachField } from "../../bson/index.js";
import { isGeneric, treeReply } from "../../protocol/index.js";
import { compileFilter } from "../../query/index.js";
import type { Command } from "../context.js";
import { flag } from "../context.js";
import { currentOperations } from "../server/currentOperations.js";

const OWN: ReadonlySet<string> = new Set(["$all", "$ownOps", "$truncateOps"]);

export const currentOp: Command = {
  name: "currentOp",
  aliases: ["currentop"],
  adminOnly: true,
  help: "list the operations going on, on all shards",
  async run(context, request) {
    const options = new DocumentWriter()
      .bool("idleConnections", flag(request, "$all"))
      .bool("allUsers", !flag(request, "$ownOps"))
      .bool("truncateOps", flag(request, "$truncateOps"))
      .finish();
    const filter = new DocumentWriter();
    let first = true;
    forEachField(request.body, (name, value) => {
      if (!first && !OWN.has(name) && !isGeneric(name)) filter.field(name, value);
      first = false;
    });
    const wanted = compileFilter(filter.finish(), context.environment);
    const rows = await currentOperations(context, options);
    return treeReply({ inprog: rows.filter((row) => wanted.matches(row)) });
  },
};

/** currentOp: the operations going on; fields beside its own two are a filter on them. */
import { DocumentWriter, forEachField } from "../../bson/index.js";
import { compileFilter } from "../../query/index.js";
import type { Command } from "../command.js";
import { isGeneric } from "../command.js";
import { currentOperations } from "../currentOperations.js";
import { treeReply } from "../tree.js";

const OWN: ReadonlySet<string> = new Set(["$all", "$ownOps", "$truncateOps"]);

export const currentOp: Command = {
  name: "currentOp",
  aliases: ["currentop"],
  fields: [],
  lenient: true,
  adminOnly: true,
  onSecondary: "always",
  help: "list the operations going on",
  run({ server, request, arguments: args }) {
    args.boolean("$all");
    args.boolean("$ownOps");
    const filter = new DocumentWriter();
    let first = true;
    forEachField(args.body, (name, value) => {
      if (!first && !OWN.has(name) && !isGeneric(name)) filter.field(name, value);
      first = false;
    });
    const wanted = compileFilter(filter.finish(), server.environment);
    const inprog = currentOperations(server, request, () => false).filter((operation) =>
      wanted.matches(operation),
    );
    const locked = server.fsyncLock.count > 0;
    return treeReply({
      inprog,
      ...(locked && {
        fsyncLock: true,
        info: "use db.fsyncUnlock() to terminate the fsync write/snapshot lock",
      }),
    });
  },
};

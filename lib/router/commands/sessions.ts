/**
 * The session commands. Sessions carry retryable writes here and nothing else, so starting, ending and killing one
 * is only acknowledged; those that kill all of them close the cursors too.
 */
import { BsonType, DocumentWriter } from "../../bson/index.js";
import type { Request } from "../../protocol/index.js";
import { Arguments, documentsOf, notSimulated, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { requiredField, wrongType } from "../context.js";

export const startSession: Command = {
  name: "startSession",
  fields: [],
  help: "start a logical session",
  run(context) {
    const id = new DocumentWriter().field("id", context.ids.uuid()).finish();
    return okReply(new DocumentWriter().document("id", id).int32("timeoutMinutes", 30).finish());
  },
};

/** The documents that the command's first field lists. */
function listed(request: Request): readonly Uint8Array[] {
  if (requiredField(request, request.command).type !== BsonType.array) {
    throw wrongType(request, request.command, "array");
  }
  return documentsOf(request, request.command);
}

const acknowledged = (name: string, help: string): Command => ({
  name,
  fields: [],
  help,
  run(_context, request) {
    listed(request);
    return okReply();
  },
});

export const endSessions = acknowledged("endSessions", "end a set of logical sessions");
export const refreshSessions = acknowledged("refreshSessions", "renew a set of logical sessions");
export const killSessions = acknowledged("killSessions", "kill a logical session and its operations");

export const killAllSessions: Command = {
  name: "killAllSessions",
  fields: [],
  help: "kill all logical sessions, for a user, and their operations",
  async run(context, request) {
    const users = listed(request);
    for (const user of users) {
      const fields = new Arguments("killAllSessions", user, { fields: ["user", "db"] }, false);
      if (fields.string("user") === undefined) fields.missing("user");
      if (fields.string("db") === undefined) fields.missing("db");
    }
    // There are no users, so those of some users are none.
    if (users.length === 0) await context.cursors.closeAll();
    return okReply();
  },
};

export const killAllSessionsByPattern: Command = {
  name: "killAllSessionsByPattern",
  fields: [],
  help: "kill logical sessions by pattern",
  async run(context, request) {
    const patterns = listed(request).map(
      (pattern) =>
        new Arguments(
          "killAllSessionsByPattern",
          pattern,
          { fields: ["lsid", "uid", "users", "roles"] },
          false,
        ),
    );
    const narrowing = ["lsid", "uid", "users", "roles"];
    const all =
      patterns.length === 0 || patterns.some((pattern) => narrowing.every((name) => !pattern.get(name)));
    if (all) await context.cursors.closeAll();
    return okReply();
  },
};

const noTransactions = (name: string): Command => ({
  name,
  adminOnly: true,
  run() {
    throw notSimulated("transactions");
  },
});

export const commitTransaction = noTransactions("commitTransaction");
export const abortTransaction = noTransactions("abortTransaction");

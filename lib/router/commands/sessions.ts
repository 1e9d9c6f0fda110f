/**
 * The session commands. Sessions carry retryable writes here and nothing else,
 * so starting and ending one is only acknowledged.
 */
import { DocumentWriter } from "../../bson/index.js";
import { notSimulated, okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const startSession: Command = {
  name: "startSession",
  run(context) {
    const id = new DocumentWriter().field("id", context.ids.uuid()).finish();
    return okReply(new DocumentWriter().document("id", id).int32("timeoutMinutes", 30).finish());
  },
};

const acknowledged = (name: string): Command => ({ name, run: () => okReply() });

export const endSessions = acknowledged("endSessions");
export const refreshSessions = acknowledged("refreshSessions");
export const killSessions = acknowledged("killSessions");

const noTransactions = (name: string): Command => ({
  name,
  run() {
    throw notSimulated("transactions");
  },
});

export const commitTransaction = noTransactions("commitTransaction");
export const abortTransaction = noTransactions("abortTransaction");

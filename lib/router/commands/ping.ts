/** `ping`: still there. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const ping: Command = { name: "ping", run: () => okReply() };

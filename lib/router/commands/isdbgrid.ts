/** `isdbgrid`: how a client learns that it speaks to a router. */
import { okReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const isdbgrid: Command = {
  name: "isdbgrid",
  aliases: ["isdbGrid"],
  run: (context) => okReply({ isdbgrid: 1, hostname: context.host }),
};

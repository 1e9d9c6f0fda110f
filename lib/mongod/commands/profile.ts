/** profile: asks for, or sets, what the profiler looks at. It can only be off. */
import { asNumber, double, isNumeric } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const profile: Command = {
  name: "profile",
  fields: ["slowms", "sampleRate"],
  refused: { filter: "the profiler's filter" },
  onSecondary: "always",
  help: "controls the behaviour of the performance profiler",
  run({ server, arguments: args }) {
    const { settings } = server;
    const { main } = args;
    if (!isNumeric(main)) throw args.wrongType("profile", main, "int");
    const level = Math.trunc(asNumber(main));
    const slowms = args.number("slowms");
    const sampleRate = args.get("sampleRate");
    if (sampleRate && !isNumeric(sampleRate)) throw args.wrongType("sampleRate", sampleRate, "double");
    const rate = sampleRate && asNumber(sampleRate);
    if (rate !== undefined && !(rate >= 0 && rate <= 1)) {
      throw new CommandError(ErrorCode.BadValue, "'sampleRate' must be between 0.0 and 1.0 inclusive");
    }
    if (level === 1 || level === 2) throw notSimulated("the profiler (system.profile)");
    const was = { was: 0, slowms: settings.slowms, sampleRate: double(settings.sampleRate) };
    if (slowms !== undefined) settings.slowms = slowms;
    if (rate !== undefined) settings.sampleRate = rate;
    return treeReply(was);
  },
};

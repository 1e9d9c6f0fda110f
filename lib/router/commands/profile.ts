/** `profile`: a router has no collections and so no profiler; it takes 0 and -1, for what its log calls slow. */
import { asNumber, double, int32, isNumeric } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated, treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";
import { optionalField, optionalNumber, requiredField, wrongType } from "../context.js";

export const profile: Command = {
  name: "profile",
  fields: ["slowms", "sampleRate", "filter"],
  help: "controls the behaviour of the performance profiler",
  run({ server: { profile: settings } }, request) {
    const level = requiredField(request, "profile");
    if (!isNumeric(level)) throw wrongType(request, "profile", "int");
    const wanted = Math.trunc(asNumber(level));
    if (wanted !== 0 && wanted !== -1) {
      throw new CommandError(
        ErrorCode.BadValue,
        "Profiling is not permitted on mongoS: the 'profile' field should be 0 to change 'slowms', 'sampleRate', " +
          "or 'filter' settings for logging, or -1 to view current values",
      );
    }
    if (optionalField(request, "filter")) throw notSimulated("the profiler's filter");
    const slowms = optionalNumber(request, "slowms");
    const sampleRate = optionalField(request, "sampleRate");
    if (sampleRate && !isNumeric(sampleRate)) throw wrongType(request, "sampleRate", "double");
    const rate = sampleRate && asNumber(sampleRate);
    if (rate !== undefined && !(rate >= 0 && rate <= 1)) {
      throw new CommandError(ErrorCode.BadValue, "'sampleRate' must be between 0.0 and 1.0 inclusive");
    }
    const was = treeReply({
      was: 0,
      slowms: int32(settings.slowms),
      sampleRate: double(settings.sampleRate),
    });
    if (wanted === 0 && slowms !== undefined) settings.slowms = slowms;
    if (wanted === 0 && rate !== undefined) settings.sampleRate = rate;
    return was;
  },
};

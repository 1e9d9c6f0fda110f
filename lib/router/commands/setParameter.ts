/** `setParameter`: changes the router's own parameters; answers what the first one was. Shards keep theirs. */
import type { RawValue } from "../../bson/index.js";
import { forEachField } from "../../bson/index.js";
import { CommandError, ErrorCode, isGeneric, treeReply } from "../../protocol/index.js";
import type { Command } from "../context.js";

export const setParameter: Command = {
  name: "setParameter",
  adminOnly: true,
  help: "set administrative option(s)",
  run({ server: { parameters } }, request) {
    const wanted = new Map<string, RawValue>();
    let first = true;
    forEachField(request.body, (name, value) => {
      if (first) first = false;
      else if (!isGeneric(name)) {
        parameters.checkSettable(name);
        wanted.set(name, value);
      }
    });
    // In the order of names, as MongoDB goes through them; `was` is the first one's.
    const names = [...wanted.keys()].sort();
    const [firstName] = names;
    if (firstName === undefined) {
      throw new CommandError(
        ErrorCode.InvalidOptions,
        "no option found to set, use help:true to see options ",
      );
    }
    const was = parameters.get(firstName);
    for (const name of names) parameters.set(name, wanted.get(name)!);
    return treeReply({ was });
  },
};

/** Commands that go to every shard and to the config server, whose replies are shown by name. */
import type { Reply, Request } from "../../protocol/index.js";
import { CommandError, errorReply, failureOf, isOk } from "../../protocol/index.js";
import { CONFIG_SHARD } from "../catalog/shards.js";
import type { RouterContext } from "../context.js";

/** What all servers said. */
export interface Answers {
  /** By shard, `config` among them, in the order of their names. */
  readonly replies: ReadonlyMap<string, Reply>;
  /** The first failure, by name. */
  readonly failure: CommandError | undefined;
}

/** Asks every shard and the config server, and waits for all. One that can't be reached counts as a failed reply. */
export async function askEveryServer(context: RouterContext, command: Request): Promise<Answers> {
  const ids = [CONFIG_SHARD, ...context.shards.ids].sort();
  const answers = await Promise.all(
    ids.map(async (id): Promise<readonly [string, Reply]> => {
      try {
        return [id, await context.shards.run(id, command)];
      } catch (error) {
        if (error instanceof CommandError) return [id, errorReply(error)];
        throw error;
      }
    }),
  );
  const failed = answers.find(([, reply]) => !isOk(reply));
  return { replies: new Map(answers), failure: failed && failureOf(failed[1]) };
}

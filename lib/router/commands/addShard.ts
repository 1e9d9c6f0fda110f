/**
 * `addShard`: registers a server as a shard (facts-mongos.md §8.4). Databases
 * that it has already become databases of the cluster with it as their primary.
 */
import { asDocument, asString, BsonType, DocumentWriter, elements, getField } from "../../bson/index.js";
import type { Endpoint } from "../../protocol/index.js";
import {
  bodyField,
  CommandError,
  EndpointUnreachableError,
  ErrorCode,
  failureOf,
  isOk,
  okReply,
  request as makeRequest,
} from "../../protocol/index.js";
import { CONFIG_SHARD, SHARD_LIST } from "../catalog/shards.js";
import type { Command, RouterContext } from "../context.js";
import { isConfigDatabase, wrongType } from "../context.js";
import { checkNothingResharding } from "../resharding/guard.js";
import { stringArgument } from "../support/arguments.js";

export const addShard: Command = {
  name: "addShard",
  aliases: ["addshard"],
  adminOnly: true,
  fields: ["name"],
  async run(context, request) {
    const host = stringArgument(request, request.command);
    const given = bodyField(request, "name");
    if (given && given.type !== BsonType.string) throw wrongType(request, "name", "string");
    return context.locks.whileExclusive(SHARD_LIST, async () => {
      checkNothingResharding(context);
      const id = given ? asString(given) : defaultId(context, host);
      checkId(id);
      const known = context.shards.all.find((shard) => shard.id === id || shard.host === host);
      if (!known) await register(context, id, host);
      else if (known.host !== host || known.id !== id) throw alreadyThere(known.id, known.host);
      return okReply(new DocumentWriter().string("shardAdded", id).finish());
    });
  },
};

/** The name of the replica set, else `shard0000`, `shard0001`, … */
function defaultId(context: RouterContext, host: string): string {
  const slash = host.indexOf("/");
  if (slash > 0) return host.slice(0, slash);
  for (let n = 0; ; n++) {
    const id = `shard${String(n).padStart(4, "0")}`;
    if (!context.shards.has(id)) return id;
  }
}

function checkId(id: string): void {
  if (id !== "" && id !== CONFIG_SHARD && id !== "admin" && id !== "local") return;
  throw new CommandError(ErrorCode.BadValue, `invalid shard name '${id}'`);
}

function alreadyThere(id: string, host: string): CommandError {
  return new CommandError(
    ErrorCode.IllegalOperation,
    `A shard already exists containing the host or name: ${id} at ${host}`,
  );
}

async function register(context: RouterContext, id: string, host: string): Promise<void> {
  const endpoint = context.shards.connect(host);
  const hello = await ask(endpoint, host, { hello: 1 });
  const message = getField(hello, "msg");
  if (message?.type === BsonType.string && asString(message) === "isdbgrid") {
    throw new CommandError(ErrorCode.IllegalOperation, `${host} is a mongos, not a shard`);
  }
  if (getField(hello, "configsvr")) {
    throw new CommandError(
      ErrorCode.OperationFailed,
      `Cannot add ${host} as a shard since it is a config server`,
    );
  }
  const databases = await databasesOf(endpoint, host);
  for (const name of databases) {
    const known = context.catalog.database(name);
    if (!known) continue;
    throw new CommandError(
      ErrorCode.OperationFailed,
      `can't add shard '${host}' because a local database '${name}' exists in another ${known.primary}`,
    );
  }
  await context.catalog.addShard(id, host);
  for (const name of databases) await context.catalog.createDatabase(name, id);
  await context.catalog.log("addShard", "", { name: id, host });
}

async function databasesOf(endpoint: Endpoint, host: string): Promise<string[]> {
  const list = getField(await ask(endpoint, host, { listDatabases: 1, nameOnly: true }), "databases");
  if (!list) return [];
  return elements(asDocument(list))
    .map((entry) => getField(asDocument(entry), "name"))
    .flatMap((name) => (name?.type === BsonType.string ? [asString(name)] : []))
    .filter((name) => !isConfigDatabase(name));
}

async function ask(endpoint: Endpoint, host: string, command: object): Promise<Uint8Array> {
  try {
    const reply = await endpoint.run(makeRequest("admin", command));
    if (!isOk(reply)) throw failureOf(reply);
    return reply.body;
  } catch (error) {
    if (!(error instanceof EndpointUnreachableError)) throw error;
    throw new CommandError(
      ErrorCode.OperationFailed,
      `can't reach the shard to add, ${host}: ${error.message}`,
    );
  }
}

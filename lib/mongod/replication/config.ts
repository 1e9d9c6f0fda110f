/**
 * Replica set configurations, as `replSetInitiate` and `replSetReconfig` bring them.
 *
 * What a client leaves out is filled in with MongoDB's defaults, so that
 * `replSetGetConfig` shows the whole document.
 *
 * There is one member with data. A program of its own (`lib/bin/mongod`) can be in a set with others, which follow: they
 * have no data and ask the primary (`lib/bin/follower.ts`). Nobody stands for election there, so who is primary is
 * written in the configuration: the first member of those with the highest priority. Elsewhere further members are
 * refused rather than pretended.
 */
import type { RawValue } from "../../bson/index.js";
import {
  asDocument,
  asNumber,
  asString,
  BsonType,
  compareDocuments,
  elements,
  EMPTY_DOCUMENT,
  fields,
  getField,
  int64,
  isNumeric,
  isTruthy,
  objectId,
} from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { encodeTree } from "../tree.js";

/** A configuration in force. */
export interface ReplicaSetConfig {
  readonly version: number;
  readonly term: number;
  readonly memberId: number;
  readonly host: string;
  readonly priority: number;
  readonly tags: Uint8Array;
  readonly replicaSetId: RawValue;
  /** All members in the order of the document, this server among them. */
  readonly members: readonly ConfigMember[];
  /** The member that is primary. */
  readonly primary: string;
  /** The whole document, as `replSetGetConfig` answers it. */
  readonly document: Uint8Array;
}

/** A member, as far as others need to know it. */
export type ConfigMember = Pick<Member, "_id" | "host" | "priority" | "hidden" | "votes">;

/** What the reader of a configuration knows already. */
export interface ConfigContext {
  /** The set's name on the command line. */
  readonly setName: string;
  /** What the server calls itself; the member must be it. */
  readonly host: string;
  /** Whether the server was started as a config server (`--configsvr`): its set must say so, and no other may. */
  readonly configsvr: boolean;
  /** Whether there may be members beside this server. */
  readonly severalMembers: boolean;
  /** The set's identity, for a configuration that does not say it. */
  readonly replicaSetId: RawValue;
  /** The term to put in, whatever the document says. */
  readonly term: number;
  readonly purpose: "initiate" | "reconfig";
}

const CONFIG_FIELDS: ReadonlySet<string> = new Set([
  "_id",
  "version",
  "term",
  "members",
  "settings",
  "protocolVersion",
  "configsvr",
  "writeConcernMajorityJournalDefault",
]);
const MEMBER_FIELDS: ReadonlySet<string> = new Set([
  "_id",
  "host",
  "arbiterOnly",
  "buildIndexes",
  "hidden",
  "priority",
  "tags",
  "secondaryDelaySecs",
  "votes",
]);
const SETTINGS: Readonly<Record<string, unknown>> = {
  chainingAllowed: true,
  heartbeatIntervalMillis: 2000,
  heartbeatTimeoutSecs: 10,
  electionTimeoutMillis: 10_000,
  catchUpTimeoutMillis: -1,
  catchUpTakeoverDelayMillis: 30_000,
  getLastErrorModes: {},
  getLastErrorDefaults: { w: 1, wtimeout: 0 },
};

/**
 * Reads a configuration.
 * @throws CommandError InvalidReplicaSetConfig (93) for what is malformed or another set's; 93 or, in a reconfig,
 * NewReplicaSetConfigurationIncompatible (103) where no member is this server or none could be primary;
 * NotImplemented (238) for several members
 */
export function readConfig(given: Uint8Array, context: ConfigContext): ReplicaSetConfig {
  checkNames(given, CONFIG_FIELDS, "ReplSetConfig");
  const name = required(given, "_id", "ReplSetConfig");
  if (name.type !== BsonType.string) throw wrongType("ReplSetConfig._id", "string");
  if (asString(name) !== context.setName) {
    const what = context.purpose === "initiate" ? "initiate" : "reconfigure";
    throw invalid(
      `Attempting to ${what} a replica set with name ${asString(name)}, but command line reports ${context.setName}; rejecting`,
    );
  }
  const version = whole(getField(given, "version"), "ReplSetConfig.version") ?? 1;
  if (version < 1) throw invalid(`version field value of ${version} is out of range`);
  const protocol = whole(getField(given, "protocolVersion"), "ReplSetConfig.protocolVersion") ?? 1;
  if (protocol !== 1) {
    throw invalid(`Support for replication protocol version ${protocol} was removed in MongoDB 4.0`);
  }
  const configsvr = isTruthy(getField(given, "configsvr"));
  if (configsvr && !context.configsvr) {
    throw invalid("Nodes being used for config servers must be started with the --configsvr flag");
  }
  if (!configsvr && context.configsvr) {
    throw invalid("Nodes started with the --configsvr flag must have configsvr:true in their config");
  }
  const members = membersOf(required(given, "members", "ReplSetConfig"), context).map((document, index) =>
    readMember(document, `ReplSetConfig.members.${index}`, context),
  );
  checkMembers(members, context);
  const member = ownMember(members, version, context);
  const settings = readSettings(getField(given, "settings"), context.replicaSetId);
  const journal = getField(given, "writeConcernMajorityJournalDefault");
  return {
    version,
    term: context.term,
    memberId: member._id,
    host: member.host,
    priority: member.priority,
    tags: member.tags,
    replicaSetId: settings.replicaSetId,
    members,
    primary: members.reduce((best, next) => (next.priority > best.priority ? next : best)).host,
    document: encodeTree({
      _id: context.setName,
      version,
      term: context.term,
      members,
      ...(configsvr && { configsvr }),
      protocolVersion: int64(1),
      writeConcernMajorityJournalDefault: journal === undefined || isTruthy(journal),
      settings,
    }),
  };
}

/** The configuration that `rs.initiate()` without arguments means, as far as a client would have to write it. */
export function defaultConfig(setName: string, host: string, configsvr: boolean): Uint8Array {
  return encodeTree({
    _id: setName,
    version: 1,
    members: [{ _id: 0, host }],
    ...(configsvr && { configsvr }),
  });
}

/**
 * Checks that two configurations are of one set.
 * @throws CommandError NewReplicaSetConfigurationIncompatible (103)
 */
export function checkSameSet(old: ReplicaSetConfig, next: ReplicaSetConfig): void {
  if (sameValue(old.replicaSetId, next.replicaSetId)) return;
  throw incompatible("New and old configurations differ in replica set ID");
}

/**
 * Checks that a configuration may follow another.
 * @throws CommandError NewReplicaSetConfigurationIncompatible (103)
 */
export function checkSuccessor(old: ReplicaSetConfig, next: ReplicaSetConfig, setName: string): void {
  const newer = next.term > old.term || (next.term === old.term && next.version > old.version);
  if (!newer) {
    throw incompatible(
      `New replica set configuration version and term must be greater than old, but {version: ${next.version}, ` +
        `term: ${next.term}} is not greater than {version: ${old.version}, term: ${old.term}} for replica set ${setName}`,
    );
  }
  checkSameSet(old, next);
  if (old.host === next.host && old.memberId !== next.memberId) {
    throw incompatible(
      `New and old configurations both have members with host of ${old.host} but in the new configuration the _id ` +
        `field is ${next.memberId} and in the old configuration it is ${old.memberId} for replica set ${setName}`,
    );
  }
}

function membersOf(members: RawValue, context: ConfigContext): Uint8Array[] {
  if (members.type !== BsonType.array) throw wrongType("ReplSetConfig.members", "array");
  const list = elements(asDocument(members));
  if (list.length === 0 || list.length > 50) {
    throw unusable(
      `Replica set configuration contains ${list.length} members, but must have at least 1 and no more than  50`,
      context,
    );
  }
  if (list.length > 1 && !context.severalMembers) throw notSimulated("a replica set of more than one member");
  return list.map((member, index) => {
    if (member.type !== BsonType.object) throw wrongType(`ReplSetConfig.members.${index}`, "object");
    return asDocument(member);
  });
}

/** What members may not have in common, and must have all together. */
function checkMembers(members: readonly Member[], context: ConfigContext): void {
  for (const field of ["_id", "host"] as const) {
    const values = members.map((member) => member[field]);
    const twice = values.find((value, index) => values.indexOf(value) !== index);
    if (twice === undefined) continue;
    throw invalid(`Found two member configurations with same ${field} field, ${field} == ${twice}`);
  }
  const voting = members.filter(({ votes }) => votes > 0).length;
  if (voting === 0 || voting > 7) {
    throw unusable(
      `Replica set configuration contains ${voting} voting members, but must be at least 1 and no more than 7`,
      context,
    );
  }
  if (members.every(({ priority }) => priority === 0)) {
    throw unusable(
      "Replica set configuration must contain at least one non-arbiter member with priority > 0",
      context,
    );
  }
}

/** The member that this server is. */
function ownMember(members: readonly Member[], version: number, context: ConfigContext): Member {
  const own = members.find(({ host }) => isSelf(host, context.host));
  if (own) return own;
  throw unusable(
    `No host described in new configuration with {version: ${version}, term: ${context.term}} for replica set ` +
      `${context.setName} maps to this node`,
    context,
  );
}

interface Member {
  readonly _id: number;
  readonly host: string;
  readonly arbiterOnly: boolean;
  readonly buildIndexes: boolean;
  readonly hidden: boolean;
  readonly priority: number;
  readonly tags: Uint8Array;
  readonly secondaryDelaySecs: RawValue;
  readonly votes: number;
}

function readMember(given: Uint8Array, where: string, context: ConfigContext): Member {
  checkNames(given, MEMBER_FIELDS, where);
  const id = whole(required(given, "_id", where), `${where}._id`) ?? 0;
  if (id < 0 || id > 255) throw invalid(`_id field value of ${id} is out of range.`);
  const host = required(given, "host", where);
  if (host.type !== BsonType.string) throw wrongType(`${where}.host`, "string");
  const address = withPort(asString(host));
  const priorityValue = getField(given, "priority");
  if (priorityValue && !isNumeric(priorityValue)) throw wrongType(`${where}.priority`, "double");
  const priority = priorityValue ? asNumber(priorityValue) : 1;
  if (!(priority >= 0 && priority <= 1000))
    throw invalid(`priority field value of ${priority} is out of range`);
  const votes = whole(getField(given, "votes"), `${where}.votes`) ?? 1;
  if (votes !== 0 && votes !== 1) throw invalid(`votes field value is ${votes} but must be 0 or 1`);
  if (votes === 0 && priority > 0 && context.severalMembers) {
    throw invalid("priority must be 0 when non-voting (votes:0)");
  }
  if (isTruthy(getField(given, "arbiterOnly"))) {
    if (context.severalMembers) throw notSimulated("an arbiter");
    throw unusable(
      "Replica set configuration must contain at least one non-arbiter member with priority > 0",
      context,
    );
  }
  const hidden = isTruthy(getField(given, "hidden"));
  if (hidden && priority > 0) throw invalid("priority must be 0 when hidden=true");
  if ((whole(getField(given, "secondaryDelaySecs"), `${where}.secondaryDelaySecs`) ?? 0) !== 0) {
    if (priority > 0) throw invalid("priority must be 0 when secondaryDelaySecs is used");
    throw notSimulated("a delayed member");
  }
  const indexes = getField(given, "buildIndexes");
  if (indexes && !isTruthy(indexes)) {
    if (priority > 0) throw invalid("priority must be 0 when buildIndexes=false");
    throw notSimulated("a member without indexes");
  }
  const tags = getField(given, "tags");
  if (tags && tags.type !== BsonType.object) throw wrongType(`${where}.tags`, "object");
  return {
    _id: id,
    host: address,
    arbiterOnly: false,
    buildIndexes: true,
    hidden,
    priority,
    tags: tags ? asDocument(tags).slice() : EMPTY_DOCUMENT,
    secondaryDelaySecs: int64(0),
    votes,
  };
}

function readSettings(
  given: RawValue | undefined,
  replicaSetId: RawValue,
): Record<string, unknown> & { replicaSetId: RawValue } {
  const settings: Record<string, unknown> = { ...SETTINGS };
  let id = replicaSetId;
  if (given && given.type !== BsonType.object) throw wrongType("ReplSetConfig.settings", "object");
  for (const [name, value] of given ? fields(asDocument(given)) : []) {
    if (name === "replicaSetId") {
      if (value.type !== BsonType.objectId)
        throw wrongType("ReplSetConfig.settings.replicaSetId", "objectId");
      id = objectId(value.bytes.slice(value.start, value.end));
    } else if (!Object.hasOwn(SETTINGS, name)) {
      throw unknownField("ReplSetConfig.settings", name);
    } else {
      settings[name] = value;
    }
  }
  return { ...settings, replicaSetId: id };
}

/** A host without a port is at MongoDB's own. */
function withPort(host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:27017`;
}

/** Whether a member's address is this server: the same port, and the same host by another of its local names. */
function isSelf(member: string, self: string): boolean {
  if (member === self) return true;
  const [, host = "", port] = /^(.*):(\d+)$/.exec(member) ?? [];
  const [, ownHost = "", ownPort] = /^(.*):(\d+)$/.exec(self) ?? [];
  return port === ownPort && LOCAL.has(host) && LOCAL.has(ownHost);
}

const LOCAL: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1", "0.0.0.0", "[::]"]);

function required(document: Uint8Array, name: string, where: string): RawValue {
  const value = getField(document, name);
  if (value) return value;
  throw new CommandError(
    ErrorCode.InvalidReplicaSetConfig,
    `BSON field '${where}.${name}' is missing but a required field`,
  );
}

function whole(value: RawValue | undefined, where: string): number | undefined {
  if (value === undefined) return undefined;
  if (!isNumeric(value)) throw wrongType(where, "int");
  return Math.trunc(asNumber(value));
}

function checkNames(document: Uint8Array, known: ReadonlySet<string>, where: string): void {
  for (const [name] of fields(document)) if (!known.has(name)) throw unknownField(where, name);
}

function unknownField(where: string, name: string): CommandError {
  return invalid(`BSON field '${where}.${name}' is an unknown field.`);
}

function wrongType(field: string, expected: string): CommandError {
  return invalid(`BSON field '${field}' is the wrong type, expected type '${expected}'`);
}

/** A configuration that can be read, and can't be used: each of the two commands has its own code for that. */
function unusable(message: string, { purpose }: ConfigContext): CommandError {
  return purpose === "initiate" ? invalid(message) : incompatible(message);
}

function invalid(message: string): CommandError {
  return new CommandError(ErrorCode.InvalidReplicaSetConfig, message);
}

function incompatible(message: string): CommandError {
  return new CommandError(ErrorCode.NewReplicaSetConfigurationIncompatible, message);
}

function sameValue(a: RawValue, b: RawValue): boolean {
  return compareDocuments(encodeTree({ v: a }), encodeTree({ v: b })) === 0;
}

/**
 * Stages that produce documents out of the server's state (`$collStats`, `$currentOp`): their options are checked
 * here, the documents come from the host.
 */
import { BsonType, asDocument, fields, isTruthy, type RawValue } from "../../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../../protocol/index.js";
import { typeName } from "../../values/types.js";
import type { StageDefinition, StageParser } from "../stage.js";

function source(check: (spec: RawValue, name: string) => void): StageParser {
  return (spec, _, name) => {
    check(spec, name);
    return {
      isSource: true,
      needsHost: true,
      create: () => {
        throw notSimulated(`stage ${name} here`);
      },
    };
  };
}

const nothingToCheck = source(() => undefined);

const CURRENT_OP_OPTIONS: ReadonlySet<string> = new Set([
  "allUsers",
  "idleConnections",
  "idleCursors",
  "idleSessions",
  "localOps",
  "backtrace",
  "truncateOps",
  "targetAllNodes",
]);

const currentOp = source((spec) => {
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `$currentOp options must be specified in an object, but found: ${typeName(spec)}`,
    );
  }
  for (const [name, value] of fields(asDocument(spec))) {
    if (!CURRENT_OP_OPTIONS.has(name)) {
      throw new CommandError(ErrorCode.FailedToParse, `Unrecognized option '${name}' in $currentOp stage.`);
    }
    if (value.type !== BsonType.bool) {
      throw new CommandError(
        ErrorCode.FailedToParse,
        `The '${name}' parameter of the $currentOp stage must be a boolean value, but found: ${typeName(value)}`,
      );
    }
  }
});

const listSampledQueries = source((spec) => {
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `$listSampledQueries must take a nested object but found: ${typeName(spec)}`,
    );
  }
  for (const [name, value] of fields(asDocument(spec))) {
    if (name !== "namespace") {
      throw new CommandError(40415, `BSON field '$listSampledQueries.${name}' is an unknown field.`);
    }
    if (value.type !== BsonType.string) {
      throw new CommandError(
        ErrorCode.TypeMismatch,
        `BSON field '$listSampledQueries.namespace' is the wrong type '${typeName(value)}', expected type 'string'`,
      );
    }
  }
});

const indexStats = source((spec) => {
  if (spec.type !== BsonType.object || asDocument(spec).length !== 5) {
    throw new CommandError(28803, "The $indexStats stage specification must be an empty object");
  }
});

const planCacheStats = source((spec) => {
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.FailedToParse,
      `$planCacheStats value must be an object. Found: ${typeName(spec)}`,
    );
  }
  for (const [name, value] of fields(asDocument(spec))) {
    if (name !== "allHosts") {
      throw new CommandError(
        ErrorCode.FailedToParse,
        `$planCacheStats parameters object may contain only 'allHosts' field. Found: ${name}`,
      );
    }
    if (value.type !== BsonType.bool) {
      throw new CommandError(ErrorCode.FailedToParse, "$planCacheStats 'allHosts' must be a boolean value.");
    }
  }
});

const listCatalog = source((spec) => {
  if (spec.type !== BsonType.object || asDocument(spec).length !== 5) {
    throw new CommandError(6200600, "The $listCatalog stage specification must be an empty object");
  }
});

const sessions = source((spec, name) => {
  if (spec.type !== BsonType.object) {
    throw new CommandError(
      ErrorCode.TypeMismatch,
      `${name} options must be specified in an object, but found: ${typeName(spec)}`,
    );
  }
  let all = false;
  let users = false;
  for (const [option, value] of fields(asDocument(spec))) {
    if (option === "allUsers") {
      if (value.type !== BsonType.bool) {
        throw new CommandError(
          ErrorCode.TypeMismatch,
          `BSON field '${name}.allUsers' is the wrong type '${typeName(value)}', expected type 'bool'`,
        );
      }
      all = isTruthy(value);
    } else if (option === "users") {
      if (value.type !== BsonType.array) {
        throw new CommandError(
          ErrorCode.TypeMismatch,
          `BSON field '${name}.users' is the wrong type '${typeName(value)}', expected type 'array'`,
        );
      }
      users = asDocument(value).length > 5;
    } else {
      throw new CommandError(
        ErrorCode.IDLUnknownField,
        `BSON field '${name}.${option}' is an unknown field.`,
      );
    }
  }
  if (all && users) {
    throw new CommandError(
      ErrorCode.UnsupportedFormat,
      `${name} may not specify {allUsers:true} and {users:[...]} at the same time`,
    );
  }
});

/** Sources of documents; `collectionless` ones stand over `{aggregate: 1}`. */
export const HOST_SOURCES: ReadonlyMap<string, StageDefinition> = new Map<string, StageDefinition>([
  ["$collStats", { parse: nothingToCheck, position: "first", notWithin: ["$facet"] }],
  ["$indexStats", { parse: indexStats, position: "first", notWithin: ["$facet"] }],
  ["$planCacheStats", { parse: planCacheStats, position: "first", notWithin: ["$facet"] }],
  ["$listCatalog", { parse: listCatalog, position: "first", notWithin: ["$facet"], collectionless: "also" }],
  ["$currentOp", collectionless(currentOp)],
  ["$listLocalSessions", collectionless(sessions)],
  ["$listSessions", { parse: sessions, position: "first", notWithin: ["$facet"] }],
  ["$listClusterCatalog", collectionless(nothingToCheck)],
  ["$listSampledQueries", collectionless(listSampledQueries)],
  ["$shardedDataDistribution", collectionless(nothingToCheck)],
]);

function collectionless(parse: StageParser): StageDefinition {
  return { parse, position: "first", notWithin: ["$facet", "$lookup", "$unionWith"], collectionless: "only" };
}

/**
 * `$jsonSchema`: MongoDB's dialect of JSON Schema draft 4.
 *
 * A schema is a list of keywords, each a condition on one value. A keyword
 * speaks of values of its own kind only: `minLength` says nothing about a
 * number, `required` nothing about a string. So what is compiled is a list of
 * {@link Keyword}s, each of which can say whether a value satisfies it and, for
 * a document that failed validation, what was wrong (failure.ts).
 *
 *     { required: ["qty"], properties: { qty: { bsonType: "int", minimum: 0 } } }
 *       → properties( qty: minimum 0, bsonType int ), required( qty )
 *
 * MongoDB adds `bsonType`, has no `integer`, and takes none of `$ref`,
 * `$schema`, `default`, `definitions`, `format`, `id`.
 *
 * @since MongoDB 3.6
 */
import { BsonType, asDocument, asString, fields, type RawValue } from "../../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import type { Failures } from "./failureDocument.js";
import { additionalItems, items, itemCount, uniqueItems } from "./jsonSchemaArrays.js";
import { allOf, anyOf, enumeration, not, oneOf } from "./jsonSchemaLogic.js";
import { allowedProperties, dependencies, properties, propertyCount, required } from "./jsonSchemaObjects.js";
import { limit, multipleOf, pattern, stringLength, typeKeyword } from "./jsonSchemaScalars.js";

/** One condition of a schema. */
export interface Keyword {
  matches(v: RawValue): boolean;
  /** What is wrong with a value that doesn't satisfy it: mostly one document. */
  failures(v: RawValue, failures: Failures): Uint8Array[];
}

/** A compiled schema. */
export interface Schema {
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly keywords: readonly Keyword[];
  /** A schema of whole documents whose type leaves objects out. */
  readonly matchesNothing: boolean;
}

/** A keyword of a schema under construction, with its argument and its siblings. */
export interface KeywordArgument {
  readonly name: string;
  readonly value: RawValue;
  readonly siblings: ReadonlyMap<string, RawValue>;
  /** The schema is that of whole documents. */
  readonly root: boolean;
}

const UNSUPPORTED = new Set(["$ref", "$schema", "default", "definitions", "format", "id"]);
const TEXTS = new Set(["title", "description"]);

/**
 * In MongoDB's order, which is the order of failures: scalars, arrays, objects,
 * logic, and the type last. Keywords that belong to another one's condition
 * have none of their own.
 */
const KEYWORDS: ReadonlyArray<
  [name: string, parse: ((argument: KeywordArgument) => Keyword | undefined) | undefined]
> = [
  ["pattern", pattern],
  ["maxLength", stringLength],
  ["minLength", stringLength],
  ["multipleOf", multipleOf],
  ["maximum", limit],
  ["exclusiveMaximum", undefined],
  ["minimum", limit],
  ["exclusiveMinimum", undefined],
  ["minItems", itemCount],
  ["maxItems", itemCount],
  ["uniqueItems", uniqueItems],
  ["items", items],
  ["additionalItems", additionalItems],
  ["properties", properties],
  ["patternProperties", allowedProperties],
  ["additionalProperties", allowedProperties],
  ["required", required],
  ["minProperties", propertyCount],
  ["maxProperties", propertyCount],
  ["dependencies", dependencies],
  ["allOf", allOf],
  ["anyOf", anyOf],
  ["oneOf", oneOf],
  ["not", not],
  ["enum", enumeration],
  ["type", typeKeyword],
  ["bsonType", typeKeyword],
];
const NAMES = new Set([...KEYWORDS.map(([name]) => name), ...TEXTS, "encrypt", "encryptMetadata"]);

/**
 * Compiles a schema.
 * @param root whether it is that of whole documents, not of a property or an item
 * @throws CommandError 9 (FailedToParse), 14 (TypeMismatch) or 2 for a malformed one, 238 for encryption keywords
 */
export function parseSchema(doc: Uint8Array, root = false): Schema {
  const siblings = keywordsOf(doc);
  const text = (name: string): string | undefined => {
    const value = siblings.get(name);
    if (value === undefined) return undefined;
    if (value.type !== BsonType.string) throw mismatch(name, "must be of type string");
    return asString(value);
  };
  const description = text("description");
  const title = text("title");
  if (siblings.has("type") && siblings.has("bsonType")) {
    throw malformed("Cannot specify both $jsonSchema keywords 'type' and 'bsonType'");
  }
  for (const [limited, limit] of [
    ["exclusiveMaximum", "maximum"],
    ["exclusiveMinimum", "minimum"],
  ] as const) {
    // prettier-ignore
    if (siblings.has(limited) && !siblings.has(limit)) {
      throw malformed(`$jsonSchema keyword '${limit}' must be a present if ${limited} is present`);
    }
  }
  const keywords: Keyword[] = [];
  let matchesNothing = false;
  for (const [name, parse] of KEYWORDS) {
    const value = siblings.get(name);
    if (value === undefined || parse === undefined) continue;
    const keyword = parse({ name, value, siblings, root });
    if (keyword === undefined) continue;
    // The type of a whole document is object: to ask for it says nothing, to ask for another one says it all.
    if (root && parse === typeKeyword) matchesNothing ||= !keyword.matches(ANY_OBJECT);
    else keywords.push(keyword);
  }
  return { title, description, keywords, matchesNothing };
}

const ANY_OBJECT: RawValue = { type: BsonType.object, bytes: new Uint8Array(0), start: 0, end: 0 };

function keywordsOf(doc: Uint8Array): Map<string, RawValue> {
  const result = new Map<string, RawValue>();
  for (const [name, value] of fields(doc)) {
    if (UNSUPPORTED.has(name)) throw malformed(`$jsonSchema keyword '${name}' is not currently supported`);
    if (!NAMES.has(name)) throw malformed(`Unknown $jsonSchema keyword: ${name}`);
    if (result.has(name)) throw malformed(`Duplicate $jsonSchema keyword: ${name}`);
    if (name.startsWith("encrypt")) throw notSimulated(`$jsonSchema keyword ${name}`);
    result.set(name, value);
  }
  return result;
}

/** Whether a value satisfies all of a schema. */
export function matchesSchema(schema: Schema, v: RawValue): boolean {
  if (schema.matchesNothing) return false;
  for (const keyword of schema.keywords) if (!keyword.matches(v)) return false;
  return true;
}

/** What is wrong with a value that doesn't satisfy a schema, keyword by keyword. */
export function schemaFailures(schema: Schema, v: RawValue, failures: Failures): Uint8Array[] {
  return schema.keywords.flatMap((keyword) => (keyword.matches(v) ? [] : keyword.failures(v, failures)));
}

/** The schema in an argument that must be an object. */
export function subschema(v: RawValue): Schema {
  return parseSchema(asDocument(v));
}

/** Error 9. */
export function malformed(message: string): CommandError {
  return new CommandError(ErrorCode.FailedToParse, message);
}

/** Error 14: a keyword's argument is of the wrong type. */
export function mismatch(name: string, what: string): CommandError {
  return new CommandError(ErrorCode.TypeMismatch, `$jsonSchema keyword '${name}' ${what}`);
}

/**
 * Reads `collation` documents.
 *
 * The order of strings is ICU's, by way of `Intl.Collator`, which offers a part
 * of what MongoDB's collations can say. The other part is refused rather than
 * approximated: strengths 4 and 5, `backwards` other than the locale's own, and
 * `maxVariable: "space"`.
 */
import {
  BsonType,
  LabelledCollation,
  asBoolean,
  asNumber,
  asString,
  describeDocument,
  fields,
  isNumeric,
  toDocument,
  type Collation,
  type RawValue,
} from "../bson/index.js";
import { CommandError, ErrorCode, notSimulated } from "../protocol/index.js";
import { typeName } from "./values/types.js";

interface Settings {
  locale: string;
  caseLevel?: boolean;
  caseFirst?: string;
  strength?: number;
  numericOrdering?: boolean;
  alternate?: string;
  maxVariable?: string;
  normalization?: boolean;
  backwards?: boolean;
  version?: string;
}

/** Which values a field takes; undefined: any of its type. */
const FIELDS: Readonly<
  Record<string, { readonly type: string; readonly values?: readonly (string | number)[] }>
> = {
  locale: { type: "string" },
  caseLevel: { type: "bool" },
  caseFirst: { type: "string", values: ["upper", "lower", "off"] },
  strength: { type: "int", values: [1, 2, 3, 4, 5] },
  numericOrdering: { type: "bool" },
  alternate: { type: "string", values: ["non-ignorable", "shifted"] },
  maxVariable: { type: "string", values: ["punct", "space"] },
  normalization: { type: "bool" },
  backwards: { type: "bool" },
  version: { type: "string" },
};

/** The ICU collation version that 8.x servers report. */
const VERSION = "57.1";

/**
 * A collation from its specification.
 * @param spec e.g. `{locale: "en", strength: 2}`
 * @returns undefined for the simple collation and for none; otherwise a fresh object, whose keys compare with each
 *   other only
 * @throws CommandError 2 (BadValue) for unknown locales and values, 14 for wrong types, 40414 without a locale, 40415
 *   for unknown fields, 161 for a version other than that of the 8.x line, 238 for what `Intl.Collator` cannot do
 * @example parseCollation(toDocument({ locale: "en", strength: 2 }))!.compare("a", "A") // 0
 * @since MongoDB 3.4
 */
export function parseCollation(spec: Uint8Array | undefined): Collation | undefined {
  if (spec === undefined || spec.length === 5) return undefined;
  const settings = readSettings(spec);
  if (settings.locale === "simple") {
    if (fields(spec).length > 1) {
      throw new CommandError(
        ErrorCode.BadValue,
        `If the 'locale' field is 'simple', no other fields should be present in: ${describeDocument(spec)}`,
      );
    }
    return undefined;
  }
  return collationOf(settings, spec);
}

function readSettings(spec: Uint8Array): Settings {
  const settings: Record<string, unknown> = {};
  for (const [name, value] of fields(spec)) {
    const field = FIELDS[name];
    if (field === undefined) {
      throw new CommandError(
        ErrorCode.IDLUnknownField,
        `BSON field 'collation.${name}' is an unknown field.`,
      );
    }
    const read = readField(name, field.type, value);
    if (field.values !== undefined && !field.values.includes(read as string | number)) {
      throw new CommandError(
        ErrorCode.BadValue,
        name === "strength"
          ? `BSON field 'collation.strength' value must be ${Number(read) < 1 ? ">= 1" : "<= 5"}, actual value '${String(read)}'`
          : `Enumeration value '${String(read)}' for field 'collation.${name}' is not a valid value.`,
      );
    }
    settings[name] = read;
  }
  if (settings["locale"] === undefined) {
    throw new CommandError(
      ErrorCode.IDLFailedToParse,
      "BSON field 'collation.locale' is missing but a required field",
    );
  }
  return settings as unknown as Settings;
}

function readField(name: string, type: string, value: RawValue): unknown {
  if (type === "string" && value.type === BsonType.string) return asString(value);
  if (type === "bool" && value.type === BsonType.bool) return asBoolean(value);
  if (type === "int" && isNumeric(value)) return Math.trunc(asNumber(value));
  throw new CommandError(
    ErrorCode.TypeMismatch,
    `BSON field 'collation.${name}' is the wrong type '${typeName(value)}', expected type '${type}'`,
  );
}

function collationOf(settings: Settings, spec: Uint8Array): Collation {
  const locale = languageTag(settings.locale);
  if (locale === undefined) {
    throw new CommandError(ErrorCode.BadValue, `Field 'locale' is invalid in: ${describeDocument(spec)}`);
  }
  const { strength = 3, caseLevel = false, numericOrdering = false, version = VERSION } = settings;
  if (version !== VERSION) {
    throw new CommandError(
      ErrorCode.IncompatibleCollationVersion,
      `Requested collation version ${version} but the only available collator version was ${VERSION}. ` +
        `Requested collation spec: ${describeDocument(spec)}`,
    );
  }
  if (strength > 3) throw notSimulated(`a collation of strength ${strength}`);
  // Canadian French alone reads accents from the end of the word, and Intl offers no switch.
  const backwards = locale.startsWith("fr-CA");
  if ((settings.backwards ?? backwards) !== backwards) {
    throw notSimulated(`a collation with backwards: ${String(settings.backwards)} for ${settings.locale}`);
  }
  if (settings.maxVariable === "space" && settings.alternate === "shifted")
    throw notSimulated("a collation with maxVariable: 'space'");
  if (caseLevel && strength === 2) throw notSimulated("a collation of strength 2 with caseLevel");
  const collator = new Intl.Collator(locale, {
    sensitivity: strength === 3 ? "variant" : strength === 2 ? "accent" : caseLevel ? "case" : "base",
    numeric: numericOrdering,
    ...(settings.alternate !== undefined && { ignorePunctuation: settings.alternate === "shifted" }),
    ...(settings.caseFirst !== undefined && {
      caseFirst: settings.caseFirst === "off" ? "false" : (settings.caseFirst as "upper" | "lower"),
    }),
  });
  const resolved = collator.resolvedOptions();
  const complete = toDocument({
    locale: settings.locale,
    caseLevel,
    caseFirst: resolved.caseFirst === "false" ? "off" : resolved.caseFirst,
    strength,
    numericOrdering,
    alternate: resolved.ignorePunctuation ? "shifted" : "non-ignorable",
    maxVariable: settings.maxVariable ?? "punct",
    normalization: settings.normalization ?? false,
    backwards,
    version: VERSION,
  });
  return new LabelledCollation(complete, collator.compare);
}

/** ICU's keywords for variants of a locale's order, and the short forms that language tags have. */
const VARIANTS: Readonly<Record<string, string>> = {
  phonebook: "phonebk",
  traditional: "trad",
  dictionary: "dict",
  pinyin: "pinyin",
  stroke: "stroke",
  zhuyin: "zhuyin",
  unihan: "unihan",
  compat: "compat",
  emoji: "emoji",
  eor: "eor",
};

/**
 * The language tag of an ICU locale: `de@collation=phonebook` → `de-u-co-phonebk`.
 * @returns undefined for a locale that has no collation data here
 */
function languageTag(locale: string): string | undefined {
  const [name, keyword] = locale.split("@");
  // ICU's identifiers divide by underscores; "en-US" is no locale of MongoDB's.
  if (!/^[a-z]{2,3}(?:_[A-Z][a-z]{3})?(?:_[A-Z]{2})?$/.test(name!)) return undefined;
  let tag = name!.replaceAll("_", "-");
  if (keyword !== undefined) {
    const [key, variant = ""] = keyword.split("=");
    if (key !== "collation") return undefined;
    if (variant === "search") throw notSimulated("a collation for searching (@collation=search)");
    const short = VARIANTS[variant];
    if (short === undefined) return undefined;
    tag += `-u-co-${short}`;
  }
  if (Intl.Collator.supportedLocalesOf([tag]).length === 0) return undefined;
  // A variant that the locale lacks is ignored by Intl and unknown to ICU.
  const expected = keyword === undefined ? undefined : VARIANTS[keyword.split("=")[1]!];
  return expected === undefined || new Intl.Collator(tag).resolvedOptions().collation === expected
    ? tag
    : undefined;
}

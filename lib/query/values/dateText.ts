/**
 * Dates from text: what `$toDate` and `$dateFromString` understand.
 *
 * With a format the text must follow it to the letter. Without one MongoDB
 * tries whatever its library knows; here that are the forms people use:
 *
 *     2018-03-20, 2018-03-20T11:00:06.5Z, 2018-03-20 11:00 +0500, 20180320T110006Z,
 *     2018-079, 2018-W12-2, 2018/03/20, 3/20/2018, 20 Mar 2018, March 20th, 2018 5pm,
 *     20-Mar-2018, Tue, 20 Mar 2018 11:00:06 GMT, @1521543606
 *
 * A text that looks like a date in yet another form is refused as not
 * simulated, so that `onError` cannot turn a date that MongoDB reads into
 * something else; all other text is a conversion failure (241).
 */
import { CommandError, ErrorCode, notSimulated } from "../../protocol/index.js";
import { MS_PER_DAY, dayNumber, dayOfIsoWeek, daysInMonth } from "./calendar.js";
import { instantOf, type TimeZone } from "./timeZone.js";

const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
const MONTH =
  "(jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|june|july|august|september|october|november|december)\\.?";
const WEEKDAY = "(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?,?\\s+)?";

function failure(text: string, why: string): CommandError {
  return new CommandError(ErrorCode.ConversionFailure, `Error parsing date string '${text}'; ${why}`);
}

function monthOf(name: string): number {
  return MONTHS.findIndex((month) => month.startsWith(name.toLowerCase().slice(0, 3))) + 1;
}

type DayReader = (match: RegExpExecArray) => number | undefined;

function day(year: number, month: number, dayOfMonth: number): number | undefined {
  if (month < 1 || month > 12 || dayOfMonth < 1 || dayOfMonth > daysInMonth(year, month)) return undefined;
  return dayNumber(year, month, dayOfMonth);
}

/** Days in text: a pattern, and what its groups say. */
const DAYS: ReadonlyArray<readonly [pattern: string, read: DayReader]> = [
  ["(\\d{4})-(\\d{1,2})-(\\d{1,2})", (m) => day(Number(m[1]), Number(m[2]), Number(m[3]))],
  ["(\\d{4})-?W(\\d{2})(?:-?([0-7]))?", (m) => dayOfIsoWeek(Number(m[1]), Number(m[2]), Number(m[3] ?? 1))],
  ["(\\d{4})[-.]?(\\d{3})(?!\\d)", (m) => ordinal(Number(m[1]), Number(m[2]))],
  ["(\\d{4})(\\d{2})(\\d{2})", (m) => day(Number(m[1]), Number(m[2]), Number(m[3]))],
  ["(\\d{4})/(\\d{1,2})/(\\d{1,2})", (m) => day(Number(m[1]), Number(m[2]), Number(m[3]))],
  ["(\\d{1,2})/(\\d{1,2})/(\\d{4})", (m) => day(Number(m[3]), Number(m[1]), Number(m[2]))],
  ["(\\d{1,2})[-.](\\d{1,2})[-.](\\d{4})", (m) => day(Number(m[3]), Number(m[2]), Number(m[1]))],
  [
    `${WEEKDAY}(\\d{1,2})(?:st|nd|rd|th)?[-\\s.]*${MONTH}[-\\s.,]*(\\d{4})`,
    (m) => day(Number(m[3]), monthOf(m[2]!), Number(m[1])),
  ],
  [
    `${WEEKDAY}${MONTH}\\s*(\\d{1,2})(?:st|nd|rd|th)?[,\\s]+(\\d{4})`,
    (m) => day(Number(m[3]), monthOf(m[1]!), Number(m[2])),
  ],
  [`(\\d{4})-${MONTH}-(\\d{1,2})`, (m) => day(Number(m[1]), monthOf(m[2]!), Number(m[3]))],
];

function ordinal(year: number, dayOfYear: number): number | undefined {
  const days = dayNumber(year, 1, 1) + dayOfYear - 1;
  return dayOfYear >= 1 && days < dayNumber(year + 1, 1, 1) ? days : undefined;
}

const TIME =
  /^(?:(?:t|\s+t?|[,\s]+at\s+|,\s*)?(\d{1,2})(?::?([0-5]\d)(?::?([0-5]\d|60)(?:[.,](\d{1,9}))?)?)?(?:\s*([ap])\.?m\.?)?)?\s*(.*)$/is;
const DAY_PATTERNS = DAYS.map(([pattern, read]) => ({ pattern: new RegExp(`^${pattern}`, "i"), read }));

/** Abbreviations of zones that stand in texts, hours east of UTC. */
const ABBREVIATIONS: Readonly<Record<string, number>> = {
  z: 0,
  utc: 0,
  gmt: 0,
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  cet: 1,
  cest: 2,
  bst: 1,
};

/** Offset of a zone in text, in milliseconds; undefined for none, null for what is no zone. */
function zoneInText(text: string): number | undefined | null {
  if (text === "") return undefined;
  const hours = ABBREVIATIONS[text.toLowerCase()];
  if (hours !== undefined) return hours * 3_600_000;
  const match = /^(?:utc|gmt)?\s*([+-])(\d{1,2})(?::?(\d{2}))?$/i.exec(text);
  if (!match) return null;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === "-" ? -minutes : minutes) * 60_000;
}

/**
 * The instant that a text names.
 * @param zone where the text's clock hangs, unless it says so itself
 * @returns milliseconds since 1970
 * @throws CommandError 241 for a text that is no date, 238 for one in a form we don't read
 */
export function parseDate(text: string, zone: TimeZone): number {
  if (text.length > 200) throw failure(text.slice(0, 200), "200: Unexpected character");
  const trimmed = text.trim();
  const unix = /^@(-?\d{1,13})(?:\.(\d{1,6}))?$/.exec(trimmed);
  if (unix) {
    if (!zone.isUtc) throw zoneTwice("GMT offset");
    return Number(unix[1]) * 1000 + Math.trunc(Number(`0.${unix[2] ?? 0}`) * 1000);
  }
  for (const { pattern, read } of DAY_PATTERNS) {
    const match = pattern.exec(trimmed);
    if (!match) continue;
    const rest = TIME.exec(trimmed.slice(match[0].length));
    const offset = rest === null ? null : zoneInText(rest[6]!);
    const time = rest === null ? undefined : clock(rest);
    if (offset === null || (rest![1] !== undefined && time === undefined)) continue;
    const days = read(match);
    if (days === undefined) throw failure(text, "Unexpected character");
    const local = days * MS_PER_DAY + (time ?? 0);
    if (offset === undefined) return instantOf(local, zone);
    if (!zone.isUtc) {
      throw zoneTwice(/^[+-]/.test(rest![6]!) ? "GMT offset" : `time zone information ('${rest![6]!}')`);
    }
    return local - offset;
  }
  if (looksLikeDate(trimmed)) throw notSimulated(`the date format of "${text}"`);
  if (/[a-z]+\/[a-z]/i.test(trimmed)) {
    throw failure(text, "passing a time zone identifier as part of the string is not allowed");
  }
  throw failure(text, "0: Unexpected character");
}

function zoneTwice(what: string): CommandError {
  return new CommandError(
    ErrorCode.ConversionFailure,
    `you cannot pass in a date/time string with ${what} together with a timezone argument`,
  );
}

/** Time of day of the groups of {@link TIME}. */
function clock(match: RegExpExecArray): number | undefined {
  if (match[1] === undefined) return undefined;
  let hour = Number(match[1]);
  const half = match[5]?.toLowerCase();
  if (half === undefined && match[2] === undefined) return undefined;
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half === "p" ? 12 : 0);
  }
  if (hour > 24) return undefined;
  const ms = Number((match[4] ?? "0").padEnd(3, "0").slice(0, 3));
  return hour * 3_600_000 + Number(match[2] ?? 0) * 60_000 + Number(match[3] ?? 0) * 1000 + ms;
}

/** Digits next to words of dates and times, or the words of relative dates. */
function looksLikeDate(text: string): boolean {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const known =
    /^(t|z|w|am?|pm?|m|of|at|utc|gmt|[ecmp][sd]t|cest?|now|today|midnight|noon|tomorrow|yesterday|next|last|previous|this|first|second|third|fourth|fifth|day|week|fortnight|month|year|hour|min|minute|sec|second|ago|back|front|(mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|st|nd|rd|th)s?$/;
  // A year has four digits: 20177-02-09 is none, nor anything else.
  if (!words.every((word) => known.test(word)) || /^\d{5}-\d/.test(text)) return false;
  return /\d/.test(text) && /[-/:.\s]|^\d{4,}$/.test(text) && !/[^-+/:.,\s\w@]/.test(text);
}

/** Components that a format has read. */
interface Fields {
  year?: number;
  month?: number;
  day?: number;
  dayOfYear?: number;
  isoYear?: number;
  isoWeek?: number;
  isoDay?: number;
  hour?: number;
  minute?: number;
  second?: number;
  millisecond?: number;
  offset?: number;
}

/** Specifiers with their patterns: all but `%%` as in `$dateToString`, less `%w` and `%U`. */
const SPECIFIERS: Readonly<Record<string, readonly [pattern: string, read: (f: Fields, t: string) => void]>> =
  {
    Y: ["\\d{1,4}", (f, t) => (f.year = Number(t))],
    m: ["\\d{1,2}", (f, t) => (f.month = Number(t))],
    d: ["\\d{1,2}", (f, t) => (f.day = Number(t))],
    H: ["\\d{1,2}", (f, t) => (f.hour = Number(t))],
    M: ["\\d{1,2}", (f, t) => (f.minute = Number(t))],
    S: ["\\d{1,2}", (f, t) => (f.second = Number(t))],
    L: ["\\d{1,3}", (f, t) => (f.millisecond = Number(t))],
    j: ["\\d{1,3}", (f, t) => (f.dayOfYear = Number(t))],
    G: ["\\d{1,4}", (f, t) => (f.isoYear = Number(t))],
    V: ["\\d{1,2}", (f, t) => (f.isoWeek = Number(t))],
    u: ["\\d", (f, t) => (f.isoDay = Number(t))],
    b: [MONTH, (f, t) => (f.month = monthOf(t))],
    B: [MONTH, (f, t) => (f.month = monthOf(t))],
    z: ["(?:z|utc|gmt|[+-]\\d{1,2}:?\\d{2}|[+-]\\d{1,2})", (f, t) => (f.offset = zoneInText(t) ?? 0)],
    Z: ["[+-]?\\d{1,4}", (f, t) => (f.offset = Number(t) * 60_000)],
  };

/**
 * Checks a format string.
 * @param allowed letters that may follow `%`
 * @throws CommandError 18535 for a `%` at the end, 18536 for an unknown specifier
 */
export function checkFormat(format: string, allowed: string): void {
  for (let at = format.indexOf("%"); at !== -1; at = format.indexOf("%", at + 2)) {
    const specifier = format[at + 1];
    if (specifier === undefined) throw new CommandError(18535, "Unmatched '%' at end of format string");
    if (specifier !== "%" && !allowed.includes(specifier)) {
      throw new CommandError(18536, `Invalid format character '%${specifier}' in format string`);
    }
  }
}

/** Letters of `$dateFromString`'s format. */
export const PARSE_LETTERS = Object.keys(SPECIFIERS).join("");

/** The instant that a text names, read by a format that {@link checkFormat} has passed. */
export function parseDateByFormat(text: string, format: string, zone: TimeZone): number {
  const found: Fields = {};
  let at = 0;
  for (let i = 0; i < format.length; i++) {
    const letter = format[i] === "%" ? format[++i]! : undefined;
    if (letter === undefined || letter === "%") {
      if (text[at] !== (letter ?? format[i]))
        throw failure(text, `${at}: The format separator does not match`);
      at++;
      continue;
    }
    const [pattern, read] = SPECIFIERS[letter]!;
    const match = new RegExp(pattern, "iy");
    match.lastIndex = at;
    const part = match.exec(text);
    if (!part) throw failure(text, `${at}: The '%${letter}' field could not be found`);
    read(found, part[0]);
    at = match.lastIndex;
  }
  if (at < text.length) throw failure(text, `${at}: Trailing data '${text[at]!}'`);
  return assemble(text, found, zone);
}

function assemble(text: string, f: Fields, zone: TimeZone): number {
  const timeless = f.hour === undefined && f.minute === undefined && f.second === undefined;
  const days = dayOfFields(text, f);
  const incomplete = !timeless && (f.hour === undefined || f.minute === undefined || f.second === undefined);
  if (days === undefined || incomplete) {
    throw new CommandError(
      ErrorCode.ConversionFailure,
      `an incomplete date/time string has been found, with elements missing: "${text}"`,
    );
  }
  const { hour = 0, minute = 0, second = 0, millisecond = 0 } = f;
  if (hour > 24 || minute > 59 || second > 59) throw failure(text, "The parsed time was invalid");
  const local =
    days * MS_PER_DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + (timeless ? 0 : millisecond);
  if (f.offset === undefined) return instantOf(local, zone);
  if (!zone.isUtc) throw zoneTwice("GMT offset");
  return local - f.offset;
}

function dayOfFields(text: string, f: Fields): number | undefined {
  const invalid = () => failure(text, "The parsed date was invalid");
  if (f.isoYear !== undefined || f.isoWeek !== undefined || f.isoDay !== undefined) {
    if (f.isoYear === undefined) return undefined;
    if (f.year !== undefined || f.month !== undefined || f.day !== undefined) {
      throw failure(text, "Mixing of ISO dates with natural dates is not allowed");
    }
    return dayOfIsoWeek(f.isoYear, f.isoWeek ?? 1, f.isoDay ?? 1);
  }
  if (f.year === undefined) return undefined;
  if (f.dayOfYear !== undefined) {
    const days = ordinal(f.year, f.dayOfYear);
    if (days === undefined) throw invalid();
    return days;
  }
  if (f.month === undefined || f.day === undefined) return undefined;
  const days = day(f.year, f.month, f.day);
  if (days === undefined) throw invalid();
  return days;
}

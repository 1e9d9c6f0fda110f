/**
 * Time zones: the offset of a place's clock from UTC at an instant.
 *
 * MongoDB takes a name of the Olson database (`"Europe/Berlin"`, as it is
 * spelt there) or a fixed offset (`"+02:00"`, `"-0330"`, `"+05"`). The data of
 * the named ones is that of the JavaScript runtime (`Intl`), the same database.
 *
 * From an instant to the local clock is a lookup. The way back is not, twice a
 * year: an hour that the clock skips is read with the offset before the change
 * (02:30 becomes 03:30), and an hour that it shows twice is the first one west
 * of Greenwich and the second one east of it. That is what the library behind
 * MongoDB's dates does, and results are compared with MongoDB's.
 */
import { CommandError } from "../../protocol/index.js";

export interface TimeZone {
  /** UTC itself, by name or as offset 0. */
  readonly isUtc: boolean;
  /** Milliseconds east of UTC at an instant (milliseconds since 1970). */
  offsetAt(ms: number): number;
}

class FixedZone implements TimeZone {
  readonly isUtc: boolean;

  constructor(readonly offset: number) {
    this.isUtc = offset === 0;
  }

  offsetAt(): number {
    return this.offset;
  }
}

export const UTC: TimeZone = new FixedZone(0);

/** Since then all changes of clocks happened at full quarters of an hour. */
const REGULAR_SINCE = Date.UTC(1990, 0, 1);
const QUARTER_HOUR = 900_000;
const REMEMBERED = 20_000;
/** What Intl can be asked: the range of JavaScript's dates, less a day, because the local clock must be in it too. */
const LAST_INSTANT = 8.64e15 - 86_400_000;

class NamedZone implements TimeZone {
  readonly isUtc = false;
  readonly #offsets = new Map<number, number>();

  constructor(readonly formatter: Intl.DateTimeFormat) {}

  offsetAt(ms: number): number {
    if (ms < REGULAR_SINCE) return this.#ask(ms);
    const quarter = Math.floor(ms / QUARTER_HOUR);
    let offset = this.#offsets.get(quarter);
    if (offset === undefined) {
      offset = this.#ask(ms);
      if (this.#offsets.size >= REMEMBERED) this.#offsets.clear();
      this.#offsets.set(quarter, offset);
    }
    return offset;
  }

  #ask(ms: number): number {
    const instant = Math.min(LAST_INSTANT, Math.max(-LAST_INSTANT, ms));
    const part: Record<string, number> = {};
    let era = "";
    for (const { type, value } of this.formatter.formatToParts(instant)) {
      if (type === "era") era = value;
      else part[type] = Number(value);
    }
    const year = era.startsWith("B") ? 1 - part["year"]! : part["year"]!;
    const local = new Date(0);
    local.setUTCFullYear(year, part["month"]! - 1, part["day"]!);
    local.setUTCHours(part["hour"]!, part["minute"]!, part["second"]!);
    return local.getTime() - Math.floor(instant / 1000) * 1000;
  }
}

const zones = new Map<string, TimeZone>();

/**
 * The zone of an identifier.
 * @throws CommandError 40485 where there is no such zone
 */
export function timeZone(id: string): TimeZone {
  let zone = zones.get(id);
  if (zone === undefined) {
    zone = makeZone(id);
    if (zones.size >= 500) zones.clear();
    zones.set(id, zone);
  }
  return zone;
}

function makeZone(id: string): TimeZone {
  if (id === "UTC") return UTC;
  const minutes = offsetMinutes(id);
  if (minutes !== undefined) return new FixedZone(minutes * 60_000);
  try {
    // Intl takes names in any case, MongoDB as they are spelt.
    if (/^[A-Z][A-Za-z0-9_+\-/]*$/.test(id)) {
      const formatter = new Intl.DateTimeFormat("en-US", {
        timeZone: id,
        hourCycle: "h23",
        era: "short",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
      return new NamedZone(formatter);
    }
  } catch {
    // falls through to the refusal
  }
  throw new CommandError(40485, `unrecognized time zone identifier: "${id}"`);
}

/** Minutes of an offset such as `+02:00`, `-0330` or `+05`; undefined for anything else. */
function offsetMinutes(text: string): number | undefined {
  const match = /^([+-])(\d{2})(?::?(\d{2}))?$/.exec(text);
  if (!match) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return match[1] === "-" ? -minutes : minutes;
}

/** The instant at which the zone's clock shows a local time (milliseconds as if it were UTC). */
export function instantOf(localMs: number, zone: TimeZone): number {
  const guess = zone.offsetAt(localMs);
  const offset = zone.offsetAt(localMs - guess);
  if (offset === guess) return localMs - guess;
  const skipped = offset > guess && zone.offsetAt(localMs - offset) !== offset;
  return localMs - (skipped ? guess : offset);
}

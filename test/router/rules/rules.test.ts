/**
 * The table of releases and the tests of this folder belong together: every rule
 * that differs has a row, a row differs exactly where its rule does, and every
 * row is tried.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Rules } from "shardlab/router";
import { RULES_VERSIONS, rulesFor } from "shardlab/router";
import { describe, expect, test } from "vitest";
import { printed, valuesOf } from "./releases.js";
import { COMMANDS_SINCE, ROWS } from "./rows.js";

const ALL = RULES_VERSIONS.map(rulesFor);

/** For each release but the first: whether this value is another than that of the release before. */
const changes = (values: readonly unknown[]): boolean[] =>
  values.slice(1).map((value, i) => printed(value) !== printed(values[i]));

const RULE_NAMES = (Object.keys(rulesFor("8.0")) as (keyof Rules)[]).filter(
  (name) => name !== "version" && name !== "absentCommands",
);

test.each(RULE_NAMES)(
  "rule %s differs between releases, and a row is tried on both sides of each change",
  (name) => {
    const ofRule = changes(ALL.map((rules) => rules[name]));
    expect(ofRule).toContain(true);
    const rows = Object.values(ROWS).filter(({ rule }) => rule === name);
    const seen = ofRule.map((_, i) => rows.some(({ values }) => changes(valuesOf(values))[i]));
    expect(seen).toEqual(ofRule);
  },
);

test("the commands that rules know to be absent are those of the table, release by release", () => {
  for (const rules of ALL) {
    const expected = Object.entries(COMMANDS_SINCE).filter(
      ([, since]) => Number(since) > Number(rules.version),
    );
    expect([...rules.absentCommands].sort()).toEqual(expected.map(([name]) => name).sort());
  }
});

describe("every row is tried once", () => {
  const folder = new URL(".", import.meta.url);
  const sources = readdirSync(folder)
    .filter((file) => file.endsWith(".test.ts") && file !== "rules.test.ts")
    .map((file) => readFileSync(new URL(file, folder), "utf8"));
  test.each(Object.keys(ROWS))("%s", (name) => {
    const tries = sources.flatMap((source) => source.split(/tryRow\(\s*/).slice(1));
    expect(tries.filter((rest) => rest.startsWith(`"${name}"`))).toHaveLength(1);
  });
});

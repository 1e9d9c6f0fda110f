/**
 * What a cell may say, and what comes of it. Every story is a few cells that run one
 * after the other; a cell is followed by its result, or by its error with the place.
 * All stories share one notebook, as a long lesson does, so they also declare each
 * other's names again.
 */
import { describe, expect, test } from "vitest";
import { ending, folderWith, TestSession } from "../support.js";

type Story = readonly (readonly [cell: string, ends: string])[];

const stories: Record<string, Story> = {
  "a variable is one place for all cells and closures": [
    ["let q = 5; function inc() { return ++q }", "undefined"],
    ["q = 100; inc()", "101"],
    ["q", "101"],
    ["const later = () => q; q = 7; later()", "7"],
  ],
  "anything may be declared again, with another type": [
    ["let q = 'text'; q.length", "4"],
    ["const q = [1, 2]; q.map((n) => n * 2)", "[ 2, 4 ]"],
    ["function q() { return 'function' } q()", "'function'"],
    ["class q { static kind = 'class' } q.kind", "'class'"],
    ["enum q { A = 3 } q.A", "3"],
    ["var q = 1n; q + 1n", "2n"],
  ],
  "a function declared again is the one that others call": [
    [
      "function half(n: number) { return n / 3 } const quarter = (n: number) => half(half(n)); quarter(9)",
      "1",
    ],
    ["function half(n: number) { return n / 2 }", "undefined"],
    ["quarter(8)", "2"],
  ],
  "names of globals are free to use and break nothing": [
    [
      "const URL = 'mongodb://localhost'; const process = 1; const console = 2; [URL, process, console]",
      "[ 'mongodb://localhost', 1, 2 ]",
    ],
    ["typeof globalThis.URL + typeof globalThis.process", "'functionobject'"],
    ["const { URL, process, console } = globalThis; new URL('http://a/b').pathname", "'/b'"],
  ],
  "shadowing is told apart": [
    ["let n = 1; const inner = (n: number) => n * 10; { let n = 50; n++ } inner(2) + n", "21"],
    ["[1, 2].map((n) => n + 1).concat(n)", "[ 2, 3, 1 ]"],
    [
      "const o = { n, get m() { return n }, f(n: string) { return n } }; [o.n, o.m, o.f('x')]",
      "[ 1, 1, 'x' ]",
    ],
    ["n++; n += 2; [n, `${n}`, typeof n, -n]", "[ 4, '4', 'number', -4 ]"],
  ],
  "what a module may declare or write, a cell may": [
    [
      "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
      "undefined",
    ],
    ["const __filename = 'mine'; [typeof require('node:path').sep, __filename]", "[ 'string', 'mine' ]"],
    ["const same = <T>(x: T) => x; same(<number>3)", "3"],
    ["#!/usr/bin/env node\nconst afterShebang = 1; afterShebang", "1"],
    [
      "\nconst $$scope = 5",
      "TypeScriptError: TS2457: '$$scope' is reserved in notebooks; choose another name. at #:2:7",
    ],
  ],
  "a cell that ends too early is told so, not what stands behind it": [
    ["await", "TypeScriptError: TS1109: Expression expected. at #:1:6"],
    ["1;\nlet early = await", "TypeScriptError: TS1109: Expression expected. at #:2:18"],
  ],
  "destructuring declares and assigns": [
    [
      "const { a, b: [c, d = 4], ...rest } = { a: 1, b: [3], e: 5, f: 6 }; [a, c, d, rest]",
      "[ 1, 3, 4, { e: 5, f: 6 } ]",
    ],
    ["let x = 1, y = 2; [x, y] = [y, x]; [x, y]", "[ 2, 1 ]"],
    ["({ x, y = 9 } = { x: 7 } as { x: number; y?: number }); [x, y]", "[ 7, 9 ]"],
    ["for ([x, y] of [[1, 2], [3, 4]]); [x, y]", "[ 3, 4 ]"],
  ],
  "var belongs to the cell, let to its block": [
    [
      "for (var i = 0, j = 9; i < 3; i++) { var seen: number | undefined = i; let gone = i } if (true) { var { k } = { k: 8 } } [i, j, k]",
      "[ 3, 9, 8 ]",
    ],
    ["[i, seen, k]", "[ 3, 2, 8 ]"],
    ["gone", "TypeScriptError: TS2304: Cannot find name 'gone'. at #:1:1"],
    ["for (var key in { p: 1 }); for (var item of [5]); key! + item!", "'p5'"],
    ["hoisted; var hoisted: number | undefined; hoisted", "undefined"],
  ],
  "functions come before what calls them": [
    ["early(); function early() { return 'called' }", "undefined"],
    ["early()", "'called'"],
    [
      "const anonymous = () => 1; const Klass = class {}; [anonymous.name, Klass.name, early.name]",
      "[ 'anonymous', 'Klass', 'early' ]",
    ],
    ["function self(this: unknown) { return this } self() === undefined", "true"],
    ["const tag = (s: TemplateStringsArray, v: number) => s.join(String(v)); tag`a${1}b`", "'a1b'"],
    [
      "function over(a: string): string; function over(a: number): number; function over(a: unknown) { return a } over(3)",
      "3",
    ],
  ],
  classes: [
    [
      "class Point { static origin = new Point(0, 0); #d = 1; constructor(public x: number, readonly y: number) {} get sum() { return this.x + this.y + this.#d } static make() { return new Point(1, 2) } }\nPoint.make().sum",
      "4",
    ],
    [
      "class Point3 extends Point { constructor(x: number, y: number, public z = 5) { super(x, y) } override get sum() { return super.sum + this.z } }\nnew Point3(1, 1).sum",
      "8",
    ],
    ["const p: Point = new Point3(0, 0); [p instanceof Point, Point.origin.x]", "[ true, 0 ]"],
    [
      "abstract class Shape { abstract area(): number } class Square extends Shape { area() { return 4 } } new Square().area()",
      "4",
    ],
    [
      "const logged: string[] = []; function log(target: unknown, { name }: { name: string | symbol }) { logged.push(String(name)) }\nclass Decorated { @log method() { return 1 } }\nlogged",
      "[ 'method' ]",
    ],
  ],
  "enums, namespaces and types live on": [
    [
      "enum Level { Low, High = 10, Higher } const enum Fast { A = 'a' } namespace Geo { export const pi = 3; export const twice = () => pi * 2 + Geo.pi }\n[Level.Higher, Level[10], Fast.A, Geo.twice()]",
      "[ 11, 'High', 'a', 9 ]",
    ],
    ["const level: Level = Level.High; [level, Geo.pi, Fast.A]", "[ 10, 3, 'a' ]"],
    ["interface Device { id: string; level?: Level } type Named<T> = T & { name: string }", "undefined"],
    ["const device: Named<Device> = { id: 'd', name: 'n' }; Object.keys(device)", "[ 'id', 'name' ]"],
    ["const Device = (id: string): Device => ({ id }); Device('x')", "{ id: 'x' }"],
    ["const other: Device = { id: 'y' }; [Device('z').id, other.id]", "[ 'z', 'y' ]"],
    [
      "const wrong: Device = { id: 3 }",
      "TypeScriptError: TS2322: Type 'number' is not assignable to type 'string'. at #:1:25",
    ],
    [
      "function isDevice(v: unknown): v is Device { return typeof v === 'object' && v !== null && 'id' in v } isDevice({})",
      "false",
    ],
  ],
  "awaiting at the top level": [
    ["const slow = await new Promise<number>((done) => setTimeout(done, 5, 42)); slow", "42"],
    [
      "let total = 0; async function* count() { for (let i = 1; i <= 3; i++) yield i } for await (const i of count()) total += i; total",
      "6",
    ],
    ["for await (const n of [Promise.resolve(1)]) total += n", "undefined"],
    [
      "function* squares() { let n = 0; while (true) yield n * n++ } squares().next().value; squares().take(2)",
      "TypeScriptError: TS2339: Property 'take' does not exist on type 'Generator<number, void, unknown>'. at #:1:97",
    ],
    [
      "function* evens() { for (let n = 0; ; n += 2) { const stop: unknown = yield n; if (stop) return 'end' } } const it = evens(); it.next(); [it.next().value, it.next(true).value]",
      "[ 2, 'end' ]",
    ],
    ["await Promise.all([1, 2].map(async (n) => n + total))", "[ 8, 9 ]"],
    ["Promise.resolve(1)", "Promise { 1 }: write `await` in front of it to get its value"],
  ],
  "using disposes at the cell's end": [
    [
      "const disposed: string[] = []; { using a = { [Symbol.dispose]: () => void disposed.push('a') }; disposed.push('in') }\ndisposed",
      "[ 'in', 'a' ]",
    ],
    [
      "using r = { n: 1, [Symbol.dispose]: () => void disposed.push('r') }; await using s = { async [Symbol.asyncDispose]() { disposed.push('s') } }; [r.n, disposed.length]",
      "[ 1, 2 ]",
    ],
    ["disposed", "[ 'in', 'a', 's', 'r' ]"],
  ],
  "every place where a name can stand": [
    [
      "let w = 1; const key = 'k'; function withDefault(a = w, { b = w + 1 } = {}) { return [a, b] } withDefault()",
      "[ 1, 2 ]",
    ],
    ["w = 10; [withDefault(), { [key]: w, [`${key}2`]: key }]", "[ [ 10, 11 ], { k: 10, k2: 'k' } ]"],
    [
      "let f2: (() => number) | undefined = () => w; [f2?.(), f2!(), (f2 as () => number)(), new Array(w).length]",
      "[ 10, 10, 10, 10 ]",
    ],
    [
      "let nothing: number | undefined; nothing ??= 4; nothing ||= 5; nothing **= 2; [...[nothing], -nothing]",
      "[ 16, -16 ]",
    ],
    [
      "class Fields { a = w; static b = w; static { this.b += w } [key] = w; get c() { return w } accessor d = w; #m() { return w } m() { return this.#m() } }\nconst fields = new Fields(); [fields.a, Fields.b, fields.k, fields.c, fields.d, fields.m()]",
      "[ 10, 20, 10, 10, 10, 10 ]",
    ],
    ["switch (w) { case 10: { let w = 'inner'; w += '!' } } try { throw w } catch (w) { String(w) } w", "10"],
    [
      "const closures = []; for (let i = 0; i < 3; i++) closures.push(() => i + w); closures.map((c) => c())",
      "[ 10, 11, 12 ]",
    ],
    [
      "let rows = 0; outer: for (const a of [1, 2, 3]) { for (const b of [1, 2, 3]) { if (b === 2) continue outer; if (a === 3) break outer; rows++ } } rows",
      "2",
    ],
    [
      "let v1 = 0; do v1++; while (v1 < 3); while (v1 < 5) v1++; for (const k in { a: 1, b: 2 }) v1 += k.length; v1",
      "7",
    ],
    ["(() => { let w = 1; return () => w })()() + w", "11"],
    ["const { w: renamed = 0, ...others } = { w, key }; [renamed, others]", "[ 10, { key: 'k' } ]"],
    [
      "let swapped = [w, key] as const satisfies readonly unknown[]; [swapped[0], delete (globalThis as any).w]",
      "[ 10, true ]",
    ],
    [
      "const proto = { greet() { return 'hi' } }; const child = { __proto__: proto, greet() { return super.greet() + w } }; child.greet()",
      "'hi10'",
    ],
  ],
  "names that are special elsewhere are not here": [
    [
      "let constructor = 1, hasOwnProperty = 2, toString = 3, __proto__ = 4; [constructor, hasOwnProperty, toString, __proto__]",
      "[ 1, 2, 3, 4 ]",
    ],
    ["__proto__ = 5; const größe = 6; const $ = 7, _ = 8; [__proto__, größe, $, _]", "[ 5, 6, 7, 8 ]"],
    ["const exports = 1, module = 2, value = 3; [exports, module, value]", "[ 1, 2, 3 ]"],
  ],
  "types across cells are as exact as in one file": [
    [
      "type Kind = 'a' | 'b'; let kind: Kind = 'a'; function assertString(v: unknown): asserts v is string { if (typeof v !== 'string') throw new TypeError('no string') }",
      "undefined",
    ],
    ["const unknownValue: unknown = 'text'; assertString(unknownValue); unknownValue.length", "4"],
    ["kind = 'c'", "TypeScriptError: TS2322: Type '\"c\"' is not assignable to type 'Kind'. at #:1:1"],
    [
      "function pick<T, K extends keyof T>(o: T, k: K): T[K] { return o[k] } const literal = { a: 1, b: 'x' } as const",
      "undefined",
    ],
    ["const one: 1 = pick(literal, 'a'); one", "1"],
    [
      "pick(literal, 'c')",
      'TypeScriptError: TS2345: Argument of type \'"c"\' is not assignable to parameter of type \'"a" | "b"\'. at #:1:15',
    ],
    [
      "namespace Outer { export interface Shape { area: number } export namespace Inner { export const n = 3 } } import n3 = Outer.Inner.n; n3",
      "3",
    ],
    ["const shape: Outer.Shape = { area: n3 * Outer.Inner.n }; shape", "{ area: 9 }"],
    [
      "function Counter() { return Counter.count++ } namespace Counter { export let count = 5 } Counter(); Counter.count",
      "6",
    ],
    ["declare const setByHost: number | undefined; typeof setByHost", "'undefined'"],
    ["(globalThis as any).setByHost = 3; typeof setByHost", "'number'"],
    ["import fs2 = require('node:fs'); typeof fs2.readFileSync", "'function'"],
    ["const sym = Symbol('s'); const bySymbol = { [sym]: 1 }", "undefined"],
    ["bySymbol[sym]", "1"],
  ],
  "export is tolerated": [
    [
      "export const exported = 1; export function fn() { return exported } export class C {} export enum E { A } export type T = number; export default fn() + 1",
      "2",
    ],
    ["const t: T = exported + fn() + E.A; export { t }; export { t as u, exported as default }", "undefined"],
    ["[t, new C() instanceof C]", "[ 2, true ]"],
  ],
  "the last expression is the result": [
    ["1; 'a string, not a directive'", "'a string, not a directive'"],
    ["({ a: 1 })", "{ a: 1 }"],
    ["q = 5n", "5n"],
    ["if (true) { 5 }", "undefined"],
    ["void 0", "undefined"],
    ["inc(), 2", "2"],
    ["// only a comment", "undefined"],
    ["function* g() {} typeof g // and a comment behind", "'function'"],
  ],
  "type errors name cell, line and column": [
    [
      "const a: number = 1;\n\n  const b: string = a;",
      "TypeScriptError: TS2322: Type 'number' is not assignable to type 'string'. at #:3:9",
    ],
    [
      "function f(x) { return x }",
      "TypeScriptError: TS7006: Parameter 'x' implicitly has an 'any' type. at #:1:12",
    ],
    [
      "const list: string[] = []; list[0].lenght",
      "TypeScriptError: TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'? at #:1:36",
    ],
    [
      "const fixed = 1;\nfixed = 2;",
      "TypeScriptError: TS2588: Cannot assign to 'fixed' because it is a constant. at #:2:1",
    ],
    ["const fixed = 1", "undefined"],
    ["fixed++", "TypeScriptError: TS2588: Cannot assign to 'fixed' because it is a constant. at #:1:1"],
    [
      "let q = 1; let q = 2;",
      "TypeScriptError: TS2451: Cannot redeclare block-scoped variable 'q'. (and 1 more) at #:1:5",
    ],
    ["if (1) {\n  foo(", "TypeScriptError: TS1005: ')' expected. at #:2:7"],
    [
      "Object.groupBy([1], (n) => n)",
      "TypeScriptError: TS2550: Property 'groupBy' does not exist on type 'ObjectConstructor'. Do you need to change your target library? Try changing the 'lib' compiler option to 'es2024' or later. (and 1 more) at #:1:8",
    ],
    ["[3, 1, 2].toSorted()", "[ 1, 2, 3 ]"],
    ["const made = neverMade + 1;", "TypeScriptError: TS2304: Cannot find name 'neverMade'. at #:1:14"],
    [
      "made",
      "TypeScriptError: TS2304: Cannot find name 'made'. It is declared in #-1, which did not finish. at #:1:1",
    ],
  ],
  "run-time errors name cell, line and column": [
    ["function boom(o: any) {\n  const inner = o.a;\n  return inner.b.c;\n}", "undefined"],
    [
      "const ok = 1;\n\nboom({ a: {} })",
      "TypeError: Cannot read properties of undefined (reading 'c') at #-1:3:18",
    ],
    ["throw new RangeError('mine')", "RangeError: mine at #:1:7"],
    [
      "class Custom extends Error { override name = 'Custom' }\nasync function fails() { await null;\n  throw new Custom('late') }\nawait fails()",
      "Custom: late at #:3:9",
    ],
    ["'x'\n  .repeat(-1)", "RangeError: Invalid count value: -1 at #:2:4"],
    ["throw 'text'", "Error: thrown: text"],
    ["throw { code: 3 }", "Error: thrown: { code: 3 }"],
    [
      "const before = 1; const unreached = boom({}) ; const after = 2",
      "TypeError: Cannot read properties of undefined (reading 'b') at #-7:3:16",
    ],
    ["before", "1"],
    [
      "after",
      "TypeScriptError: TS2304: Cannot find name 'after'. It is declared in #-2, which did not finish. at #:1:1",
    ],
    [
      "const rec = (n: number): number => rec(n + 1); try { rec(0) } catch (e) { (e as Error).message }",
      "undefined",
    ],
    ["null!.x", "TypeScriptError: TS2339: Property 'x' does not exist on type 'never'. at #:1:7"],
    ["Promise.reject(new Error('nobody waits')); 1", "Error: nobody waits at #:1:16"],
  ],
  imports: [
    [
      "import { join } from 'node:path'; import * as os from 'os'; import fs, { existsSync as there } from 'node:fs'; [join('a', 'b'), typeof os.cpus, there === fs.existsSync]",
      "[ 'a/b', 'function', true ]",
    ],
    ["join('c', 'd')", "'c/d'"],
    [
      "import { ObjectId, Long, type Document } from 'mongodb'; import type { Db } from 'mongodb'; const doc: Document = { l: Long.fromNumber(5) }; [new ObjectId('64b000000000000000000001'), doc]",
      "[ new ObjectId('64b000000000000000000001'), { l: new Long('5') } ]",
    ],
    [
      "const id: ObjectId = new ObjectId('64b000000000000000000002'); let database: Db | undefined; [id.toHexString().length, database]",
      "[ 24, undefined ]",
    ],
    ["import { Document, MongoClient } from 'mongodb'; typeof MongoClient", "'function'"],
    ["const { basename } = await import('node:path'); basename('/x/y')", "'y'"],
    ["import { helper, counter, bump } from './helper.ts'; bump(); [helper('x'), counter]", "[ 'X!', 1 ]"],
    ["bump(); counter", "2"],
    ["import { helper as viaJs } from './helper.js'; viaJs === helper", "true"],
    ["import { plain } from './plain.mjs'; plain", "'plain JavaScript'"],
    ["import zones from './zones.json'; zones.zones[1]", "'eu'"],
    ["import again from './zones.json' with { type: 'json' }; again.zones.length", "2"],
    ["import { fails } from './helper.ts';\n\nfails()", "Error: from the file at #:3:1"],
    [
      "import { bad } from './bad.ts'; bad",
      "TypeScriptError: TS2322: Type 'string' is not assignable to type 'number'. at bad.ts:2:14",
    ],
    [
      "import { nothing } from './helper.ts'",
      "TypeScriptError: TS2305: Module '\"./helper.ts\"' has no exported member 'nothing'. at #:1:10",
    ],
    [
      "import nope from 'no-such-package'",
      "TypeScriptError: TS2307: Cannot find module 'no-such-package' or its corresponding type declarations. Is the package installed? `npm install no-such-package` in the notebook's folder adds it. at #:1:18",
    ],
    [
      "import './missing.js'",
      "TypeScriptError: TS2882: Cannot find module or type declarations for side-effect import of './missing.js'. at #:1:8",
    ],
    [
      "await import('no-such-' + 'package')",
      "Error: Cannot find package 'no-such-package'; `npm install no-such-package` in the notebook's folder adds it at #:1:1",
    ],
    [
      "[import.meta.dirname === __dirname, typeof require('fs').readFileSync, import.meta.url.endsWith('.mts')]",
      "[ true, 'function', true ]",
    ],
    ["import { untyped } from 'untyped'; untyped + 1", "42"],
    ["import { esm } from 'esm-only'; import cjs from 'old-cjs'; [esm, cjs.value]", "[ 'esm', 'cjs' ]"],
  ],
};

const files = {
  "helper.ts": `export let counter = 0;
export const bump = (): void => { counter++; };
export function helper(text: string): string {
  return text.toUpperCase() + "!";
}
export const fails = (): never => { throw new Error("from the file"); };
`,
  "plain.mjs": `import { sep } from "node:path"; export const plain = sep === "" ? "" : "plain JavaScript";\n`,
  "bad.ts": `export const good = 1;\nexport const bad: number = "x";\n`,
  "zones.json": `{ "zones": ["us", "eu"] }`,
};

const packages = {
  untyped: { "package.json": `{"name":"untyped","main":"index.js"}`, "index.js": "exports.untyped = 41;" },
  "esm-only": {
    "package.json": `{"name":"esm-only","type":"module","exports":{"import":"./main.js"}}`,
    "main.js": "export const esm = 'esm';",
  },
  "old-cjs": { "package.json": `{"name":"old-cjs"}`, "index.js": "module.exports = { value: 'cjs' };" },
};

describe("the language of cells", async () => {
  const folder = await folderWith(files);
  await install(folder);
  const notebook = new TestSession({ folder });
  let count = 0;
  for (const [name, story] of Object.entries(stories)) {
    test(name, async () => {
      for (const [cell, ends] of story) {
        count++;
        const here = count;
        const expected = ends.replace(/#(-\d+)?/g, (_, back = "0") => `cell ${here + Number(back)}`);
        const outcome = await notebook.run(cell);
        expect(ending(outcome).replaceAll(folder, "<folder>"), cell).toBe(expected);
      }
    });
  }
});

async function install(folder: string): Promise<void> {
  const { mkdir, writeFile } = await import("node:fs/promises");
  for (const [name, contents] of Object.entries(packages)) {
    await mkdir(`${folder}/node_modules/${name}`, { recursive: true });
    for (const [file, text] of Object.entries(contents))
      await writeFile(`${folder}/node_modules/${name}/${file}`, text);
  }
}

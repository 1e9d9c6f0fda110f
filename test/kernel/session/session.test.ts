/**
 * A notebook that is running: what is stopped keeps its state, what is late stays
 * where it belongs, what dies takes nothing with it.
 */
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { CellOutcome } from "../../../kernel/session/index.js";
import { ending, folderWith, isRunning, printed, result, TestSession } from "../support.js";

const folder = await folderWith();

describe("stopping a cell keeps the notebook's state", () => {
  const notebook = new TestSession({ folder });
  const loops: Record<string, string> = {
    "a synchronous loop": "while (true) {}",
    "a loop without a body of its own": "for (;;) n += 0;",
    "a loop that catches what it can": "while (true) { try { n += 0 } catch {} }",
    "a loop behind an await": "await null; do {} while (true)",
    "a loop that awaits": "while (true) await new Promise((next) => setTimeout(next, 1))",
    "a promise that never settles": "await new Promise(() => {})",
    "a loop in a function of another cell": "spin(() => true)",
    "recursion that would take for ever":
      "const fib = (k: number): number => (k < 2 ? k : fib(k - 1) + fib(k - 2)); fib(90)",
    "a callback that a library calls for ever":
      "const forever = { *[Symbol.iterator]() { for (;;) yield 1 } }; Array.from(forever)",
  };

  /** Runs a cell, and stops it as soon as it has printed something. */
  async function runUntilStopped(source: string): Promise<CellOutcome> {
    let told = false;
    return notebook.run(source, {
      onOutput: () => {
        if (!told) notebook.session.interrupt();
        told = true;
      },
    });
  }

  test("each kind of loop ends, and the next cell sees what the loop had done", async () => {
    await notebook.run("let n = 0; function spin(go: () => boolean) { while (go()) {} }");
    for (const [index, [name, loop]] of Object.entries(loops).entries()) {
      const outcome = await runUntilStopped(`n = ${index + 1}; console.log("go"); ${loop}`);
      expect(ending(outcome), name).toMatch(/^Interrupted: the cell was stopped/);
      expect(ending(await notebook.run("n")), name).toBe(String(index + 1));
    }
  });

  test("a cell that takes too long is stopped, and the outcome says so", async () => {
    const outcome = await notebook.run("while (true) {}", { timeoutMs: 500 });
    expect(outcome.status).toBe("timeout");
    expect(ending(outcome)).toBe("Timeout: the cell was stopped after 0.5 s; the notebook's state is kept");
    expect(ending(await notebook.run("n"))).toBe(String(Object.keys(loops).length));
  });

  test.each([
    "function again() { queueMicrotask(again) } again(); await new Promise((done) => setTimeout(done, 10))",
    "function again() { process.nextTick(again) } again(); await new Promise((done) => setTimeout(done, 10))",
    "try { for (;;); } catch { 5 }",
  ])("a cell that hides its stop is not passed off as done: %s", async (cell) => {
    const outcome = await notebook.run(cell, { timeoutMs: 300 });
    expect(outcome.status).toBe("timeout");
    expect(ending(await notebook.run("1 + 1"))).toBe("2");
  });

  test("what is left of a stopped cell doesn't go on, and other cells' functions work as before", async () => {
    const stopped = await runUntilStopped(
      "let ticks = 0; while (true) { console.log('tick', ++ticks); await new Promise((next) => setTimeout(next, 5)) }",
    );
    const then = result(await notebook.run("ticks"));
    await sleep(50);
    expect(result(await notebook.run("ticks"))).toBe(then);
    expect(printed(stopped).trimEnd().split("\n").at(-1)).toBe(`tick ${String(then)}`);
    expect(ending(await notebook.run("let k = 3; spin(() => k-- > 0); k"))).toBe("-1");
  });

  test("without a running cell, an interrupt ends what earlier cells have left running", async () => {
    await notebook.run(
      "let beats = 0; void (async () => { for (;;) { beats++; await new Promise((next) => setTimeout(next, 2)) } })()",
    );
    notebook.session.interrupt();
    await sleep(50);
    const then = result(await notebook.run("beats"));
    await sleep(30);
    expect(result(await notebook.run("beats"))).toBe(then);
  });
});

test("a cell stops before it begins; and what no guard can stop is killed, which loses the state", async () => {
  const notebook = new TestSession({ folder, graceMs: 200 });
  // The compiler isn't loaded yet: a request that comes before the cell begins counts too.
  const first = notebook.run("console.log('began')");
  await sleep(0);
  notebook.session.interrupt();
  expect(ending(await first)).toBe("Interrupted: the cell was stopped");
  expect(printed(await first)).toBe("");

  await notebook.run("let kept = 1");
  const outcome = await notebook.run("'a'.repeat(40).match(/^(a+)+$(?!a)x/)", { timeoutMs: 200 });
  expect(ending(outcome)).toBe(
    "Timeout: the cell was stopped after 0.2 s; its process had to be killed, so the notebook's state is lost",
  );
  expect(notebook.session.alive).toBe(false);
  expect((await notebook.run("kept")).status).toBe("not-run");
});

describe("outputs", () => {
  const notebook = new TestSession({ folder });

  test("stay in order, and join to one piece of text a stream", async () => {
    const { outputs } = await notebook.run(
      "console.log('a', { b: [1] }); console.info('c'); console.error('d'); process.stdout.write('e'); 5",
    );
    expect(outputs).toEqual([
      { output_type: "stream", name: "stdout", text: "a { b: [ 1 ] }\nc\n" },
      { output_type: "stream", name: "stderr", text: "d\n" },
      { output_type: "stream", name: "stdout", text: "e" },
      { output_type: "execute_result", execution_count: 1, data: { "text/plain": "5" }, metadata: {} },
    ]);
  });

  test("that come late belong to the cell that made them", async () => {
    const first = await notebook.run("setTimeout(() => console.log('late'), 60); console.log('at once')");
    const second = await notebook.run(
      "await new Promise((done) => setTimeout(done, 120)); console.log('second')",
    );
    expect(printed(first)).toBe("at once\nlate\n");
    expect(printed(second)).toBe("second\n");
  });

  test("of `display` may be updated in place, also by a later cell", async () => {
    const show = "(globalThis as any)[Symbol.for('shardlab.display')].display";
    const first = await notebook.run(
      `${show}({ 'text/plain': '1 %' }, { id: 'p' }); ${show}({ 'text/plain': 'other' })`,
    );
    const second = await notebook.run(`${show}({ 'text/plain': '100 %' }, { id: 'p', update: true })`);
    expect(first.outputs.map((output) => "data" in output && output.data)).toEqual([
      { "text/plain": "100 %" },
      { "text/plain": "other" },
    ]);
    expect(second.outputs).toEqual([]);
  });

  test("have a limit, and say so", async () => {
    const outcome = await notebook.run("for (let i = 0; i < 1_000_000; i++) console.log('line', i)");
    const text = printed(outcome);
    expect(outcome.status).toBe("ok");
    expect(text.startsWith("line 0\nline 1\n")).toBe(true);
    expect(text.length).toBeLessThan(1_000_200);
    expect(text.trimEnd().endsWith("[this cell printed more than 1 MB; the rest is left out]")).toBe(true);
    expect(printed(await notebook.run("console.log('the next cell prints')"))).toBe("the next cell prints\n");
  });

  test("arrays of documents are tables too, escaped", async () => {
    const { outputs } = await notebook.run("[{ name: '<b>', n: 1 }, { n: 22, more: { x: [1] } }]");
    expect(outputs[0]?.output_type === "execute_result" && outputs[0].data["text/html"]).toBe(
      '<table>\n<thead><tr><th scope="col">name</th><th scope="col">n</th><th scope="col">more</th></tr></thead>\n' +
        '<tbody>\n<tr><td>&#60;b&#62;</td><td style="text-align: right">1</td><td></td></tr>\n' +
        '<tr><td></td><td style="text-align: right">22</td><td>{ x: [ 1 ] }</td></tr>\n</tbody>\n</table>',
    );
  });

  test("a printed promise shows no bookkeeping of Node's", async () => {
    expect(printed(await notebook.run("console.log(Promise.resolve({ n: 1 }), new Promise(() => {}))"))).toBe(
      "Promise { { n: 1 } } Promise { <pending> }\n",
    );
  });
});

describe("errors that nobody caught", () => {
  const notebook = new TestSession({ folder });

  test("of a timer are reported on the cell that set it, and make it a failed cell", async () => {
    const first = await notebook.run("setTimeout(() => {\n  throw new Error('in a timer') }, 30)");
    expect(first.status).toBe("ok");
    const second = await notebook.run("await new Promise((done) => setTimeout(done, 80)); 'fine'");
    expect(ending(first)).toBe("Error: in a timer at cell 1:2:9");
    expect(ending(second)).toBe("'fine'");
  });

  test("of a promise that was not awaited too", async () => {
    const first = await notebook.run(
      "async function job() { await new Promise((d) => setTimeout(d, 30)); throw new TypeError('lost') } void job()",
    );
    const second = await notebook.run("await new Promise((done) => setTimeout(done, 80))");
    expect(ending(first)).toBe("TypeError: lost at cell 3:1:75");
    expect(second.status).toBe("ok");
  });

  test("show code, cause, the line and the cells' frames; library frames are folded", async () => {
    await notebook.run(
      "import { MongoClient } from 'mongodb';\nfunction connect(uri: string) {\n  return new MongoClient(uri);\n}",
    );
    const { error } = await notebook.run("\nconnect('http://nowhere')");
    expect(error?.text.split("\n")).toEqual([
      'MongoParseError: Invalid scheme, expected connection string to start with "mongodb://" or "mongodb+srv://"',
      "3 |   return new MongoClient(uri);",
      "  |          ^",
      expect.stringMatching(/^ {4}… \d+ frames in mongodb-connection-string-url, mongodb$/),
      "    at connect (cell 5:3:10)",
      "    at cell 6:2:1",
    ]);
    const own = await notebook.run(
      "throw Object.assign(new Error('dup', { cause: new Error('why') }), { code: 11000, codeName: 'DuplicateKey' })",
    );
    expect(own.error?.code).toBe(11000);
    expect(own.error?.text).toContain("Error: dup\ncode 11000 (DuplicateKey)\n");
    expect(own.error?.text).toContain("caused by Error: why");
  });

  test("name the cell, not its compiled file, also where a frame has no position", async () => {
    const { error } = await notebook.run("class S {\n  static {\n    throw new Error('static');\n  }\n}");
    expect(error?.text).toContain(":3:11)");
    expect(error?.text).not.toContain("__cell_");
  });
});

test("local files are compiled again when they, or what they import, have changed", async () => {
  const here = await folderWith({
    "low.ts": "export const low = 1;",
    "high.ts": "import { low } from './low.js'; export const high = (): number => low + 1;",
  });
  const notebook = new TestSession({ folder: here });
  expect(ending(await notebook.run("import { high } from './high.ts'; high()"))).toBe("2");
  await writeFile(`${here}/low.ts`, "export const low = 100;");
  expect(ending(await notebook.run("import { high } from './high.ts'; high()"))).toBe("101");
});

describe("the process", () => {
  test("that a cell ends is gone, and the outcome says how", async () => {
    const exits = new TestSession({ folder });
    expect(ending(await exits.run("console.log('bye'); process.exit(3)"))).toBe(
      "Killed: its process ended itself with exit code 3",
    );
    expect((await exits.run("1")).status).toBe("not-run");
    const aborts = new TestSession({ folder });
    expect(ending(await aborts.run("process.abort()"))).toBe("Killed: its process was ended by SIGABRT");
  });

  test("and all it started are gone after close, a loop notwithstanding", async () => {
    const notebook = new TestSession({ folder, graceMs: 300 });
    const start =
      "import { spawn } from 'node:child_process'; const sleeper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }); [process.pid, sleeper.pid]";
    const pids = JSON.parse(String(result(await notebook.run(start)))) as number[];
    expect(pids.map(isRunning)).toEqual([true, true]);
    let looping: Promise<CellOutcome> | undefined;
    await new Promise<void>((started) => {
      looping = notebook.run("console.log('go'); while (true) {}", { onOutput: () => started() });
    });
    await notebook.session.close();
    expect((await looping)?.status).toBe("killed");
    expect(await until(() => !pids.some(isRunning))).toBe(true);
  });
});

/** Polls, as a killed process takes a moment to be gone. */
async function until(condition: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 100 && !condition(); tries++) await sleep(20);
  return condition();
}

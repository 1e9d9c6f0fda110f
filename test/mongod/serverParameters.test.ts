/** What can be set on a server, and what it logged. */
import { describe, expect, it } from "vitest";
import { LogRing, newServerLogs } from "../../lib/mongod/index.js";
import { TestMongod } from "./support.js";

describe("parameters", () => {
  it("are shown by name, all, and with what can be done about them", async () => {
    const t = new TestMongod();
    expect(await t.run({ getParameter: 1, ttlMonitorEnabled: 1 }, "admin")).toEqual({
      ttlMonitorEnabled: true,
      ok: 1,
    });
    const all = await t.run({ getParameter: "*" }, "admin");
    expect(await t.run({ getParameter: { allParameters: true } }, "admin")).toEqual(all);
    expect(
      await t.run({ getParameter: { showDetails: true }, enableTestCommands: 1, logLevel: 1 }, "admin"),
    ).toEqual({
      enableTestCommands: { value: false, settableAtRuntime: false, settableAtStartup: true },
      logLevel: { value: 0, settableAtRuntime: true, settableAtStartup: true },
      ok: 1,
    });
    const startup = await t.run({ getParameter: { allParameters: true, setAt: "startup" } }, "admin");
    expect(startup).not.toHaveProperty("featureCompatibilityVersion");
    expect(await t.reply({ getParameter: 1, nonsense: 1 }, "admin")).toMatchObject({
      code: 72,
      errmsg: "no option found to get",
    });
    expect(await t.reply({ getParameter: { foo: 1 } }, "admin")).toMatchObject({ code: 40415 });
  });

  it("are changed, and the change answers what was", async () => {
    const t = new TestMongod();
    expect(await t.run({ setParameter: 1, cursorTimeoutMillis: 5000 }, "admin")).toEqual({
      was: 600000,
      ok: 1,
    });
    expect(await t.run({ getParameter: 1, cursorTimeoutMillis: 1 }, "admin")).toMatchObject({
      cursorTimeoutMillis: 5000,
    });
    // Several at once: `was` is the first by name.
    expect(await t.run({ setParameter: 1, quiet: true, logLevel: 2 }, "admin")).toMatchObject({ was: 0 });
    expect(await t.run({ setParameter: 1, quiet: 0 }, "admin")).toMatchObject({ was: true });
  });

  it("steer the engine: a cursor that is not used for long enough is gone", async () => {
    const t = new TestMongod();
    await t.insert("c", { _id: 1 }, { _id: 2 });
    await t.run({ setParameter: 1, cursorTimeoutMillis: 5000 }, "admin");
    const { cursor } = await t.run({ find: "c", batchSize: 1 });
    t.environment.time += 5001;
    expect(await t.reply({ getMore: BigInt(cursor.id), collection: "c" })).toMatchObject({ code: 43 });
    expect((await t.run({ serverStatus: 1 }, "admin"))["metrics"].cursor.timedOut).toBe(1);
  });

  // [what is set, code]
  const bad: [object, number][] = [
    [{ nonsense: 1 }, 72],
    [{}, 72],
    [{ enableTestCommands: true }, 20],
    [{ featureCompatibilityVersion: "8.0" }, 20],
    [{ ttlMonitorEnabled: "yes" }, 2],
    [{ ttlMonitorSleepSecs: 0 }, 2],
    [{ ttlMonitorSleepSecs: 1e12 }, 2],
    [{ logLevel: 6 }, 2],
    [{ planCacheSize: 5 }, 2],
    [{ notablescan: true }, 238],
    [{ internalQueryFrameworkControl: "trySbeEngine" }, 238],
  ];
  it.each(bad)("%j is refused and changes nothing", async (settings, code) => {
    const t = new TestMongod();
    const before = await t.run({ getParameter: "*" }, "admin");
    expect(await t.reply({ setParameter: 1, ...settings }, "admin")).toMatchObject({ code });
    expect(await t.run({ getParameter: "*" }, "admin")).toEqual(before);
  });

  it("of the command line are there from the start", async () => {
    const options = {
      parameters: { ttlMonitorSleepSecs: "1", ttlMonitorEnabled: "false", enableTestCommands: "1" },
    };
    expect(
      await new TestMongod(options).run(
        {
          getParameter: 1,
          ttlMonitorSleepSecs: 1,
          ttlMonitorEnabled: 1,
          enableTestCommands: 1,
        },
        "admin",
      ),
    ).toMatchObject({ ttlMonitorSleepSecs: 1, ttlMonitorEnabled: false, enableTestCommands: true });
    expect(() => new TestMongod({ parameters: { nonsense: "1" } })).toThrow(/unrecognized parameter/);
    expect(() => new TestMongod({ parameters: { logLevel: "high" } })).toThrow(/Unable to coerce/);
  });
});

describe("the log", () => {
  it("is what the program wrote, the latest lines of it", async () => {
    const logs = newServerLogs();
    const t = new TestMongod({ logs });
    for (let i = 1; i <= 1030; i++) logs.global.write(`line ${i}`);
    logs.startupWarnings.write("beware");
    const { log, totalLinesWritten } = await t.run({ getLog: "global" }, "admin");
    expect(totalLinesWritten).toBe(1030);
    expect(log.length).toBe(1024);
    expect([log[0], log.at(-1)]).toEqual(["line 7", "line 1030"]);
    expect(await t.run({ getLog: "startupWarnings" }, "admin")).toEqual({
      totalLinesWritten: 1,
      log: ["beware"],
      ok: 1,
    });
    expect(await t.run({ getLog: "*" }, "admin")).toMatchObject({ names: ["global", "startupWarnings"] });
    expect(await t.reply({ getLog: 5 }, "admin")).toMatchObject({ code: 14 });
    expect(await t.reply({ getLog: "none" }, "admin")).toMatchObject({
      code: 96,
      errmsg: "No log named 'none'",
    });
  });

  it("keeps no line longer than 10 KB", () => {
    const ring = new LogRing();
    ring.write("x".repeat(1_000_000));
    expect(ring.lines()[0]!.length).toBe(10_240);
  });

  it("starts anew by logRotate, where there is a file", async () => {
    let rotated = 0;
    const t = new TestMongod({ onLogRotate: () => rotated++ });
    await t.run({ logRotate: 1 }, "admin");
    await t.run({ logRotate: "server" }, "admin");
    expect(rotated).toBe(2);
    expect(await t.reply({ logRotate: "nonsense" }, "admin")).toMatchObject({ code: 4 });
  });
});

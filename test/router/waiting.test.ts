/** Time that has to pass (support/waiting.ts). */
import { describe, expect, it } from "vitest";
import { Waiting } from "../../lib/router/support/waiting.js";

describe("on a real clock", () => {
  it("whoever waits when the router closes is interrupted, and nobody waits after that", async () => {
    const timers = new Set<() => void>();
    const setTimer = (callback: () => void): (() => void) => {
      timers.add(callback);
      return () => void timers.delete(callback);
    };
    const waiting = new Waiting({ now: () => 0, random: () => 0, setTimer }, "real");
    const first = waiting.wait(300_000);
    expect(timers.size).toBe(1);
    waiting.close();
    await expect(first).rejects.toMatchObject({ code: 11600 });
    // What would wait again and again, a resharding for its five minutes, ends too. No timer is left.
    await expect(waiting.wait(1000)).rejects.toMatchObject({ code: 11600 });
    expect(timers.size).toBe(0);
  });
});

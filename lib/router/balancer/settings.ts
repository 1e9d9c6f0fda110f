/**
 * Whether the balancer may work now, by config.settings (facts-mongos.md §3.4): pure policy.
 *
 *     {_id: "balancer", mode: "full", stopped: false, activeWindow: {start: "23:00", stop: "6:00"}}
 *
 * A window may go over midnight; its start is in it, its stop is not.
 */
import type { Settings } from "../catalog/entries.js";
import { minutesOfDay } from "../catalog/validation.js";

/**
 * Whether a round may run.
 * @param now minutes since midnight where the router is
 */
export function mayBalance({ balancerMode, activeWindow }: Settings, now: number): boolean {
  if (balancerMode !== "full") return false;
  if (!activeWindow) return true;
  const start = minutesOfDay(activeWindow.start) ?? 0;
  const stop = minutesOfDay(activeWindow.stop) ?? 0;
  return start < stop ? now >= start && now < stop : now >= start || now < stop;
}

/** Minutes since midnight of a time in milliseconds, by this machine's time zone. */
export function minuteOf(milliseconds: number): number {
  const date = new Date(milliseconds);
  return date.getHours() * 60 + date.getMinutes();
}

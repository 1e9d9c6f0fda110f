/**
 * The executor's process and everything it started, as one thing to end.
 *
 * On POSIX the process leads a group of its own. Ending it is gentle first: its
 * channel closes, it exits, and a lab host below it closes its cluster when its
 * own channel ends. What is still there after that gets SIGKILL.
 */
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Are there process groups here? */
export const hasGroups = process.platform !== "win32";

/** Kills the process and all that it started, at once. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // Nobody left.
  }
}

/**
 * Ends the process by closing its channel, and waits until it and all that it
 * started are gone.
 *
 * @param graceMs how long the process may take, and then what it started
 */
export async function endGroup(child: ChildProcess, graceMs: number): Promise<void> {
  const exited = child.exitCode !== null || child.signalCode !== null;
  if (!exited) {
    const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    if (child.connected) child.disconnect();
    const inTime = await Promise.race([exit.then(() => true), sleep(graceMs, false)]);
    if (!inTime) {
      killGroup(child);
      await exit;
    }
  }
  const deadline = Date.now() + graceMs;
  while (isGroupAlive(child) && Date.now() < deadline) await sleep(20);
  killGroup(child);
  for (const stream of child.stdio) stream?.destroy();
}

function isGroupAlive(child: ChildProcess): boolean {
  if (!hasGroups || child.pid === undefined) return false;
  try {
    process.kill(-child.pid, 0);
  } catch {
    return false;
  }
  // A zombie that nobody has waited for still counts for kill(), but is over.
  return process.platform !== "linux" || linuxGroup(child.pid).some((state) => state !== "Z");
}

function linuxGroup(group: number): string[] {
  const states: string[] = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      const [state = "", , pgrp] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (Number(pgrp) === group) states.push(state);
    } catch {
      // It ended while we looked.
    }
  }
  return states;
}

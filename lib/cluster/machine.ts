/** What a server tells about the machine and the process it runs in. */
import { arch, cpus, hostname, release, totalmem, type } from "node:os";
import type { HostInfo, MemoryUse } from "../mongod/index.js";

/** The machine, for hostInfo. */
export function describeMachine(): HostInfo {
  return {
    hostname: hostname(),
    memSizeMB: Math.floor(totalmem() / 1024 / 1024),
    numCores: cpus().length,
    cpuArch: arch() === "x64" ? "x86_64" : arch() === "arm64" ? "aarch64" : arch(),
    os: { type: type(), name: type(), version: release() },
  };
}

/** The memory of this process, for serverStatus. */
export function memoryUse(): MemoryUse {
  return { resident: process.memoryUsage.rss() };
}

/** Timers for an engine's housekeeping; they keep no process alive. */
export function setTimer(callback: () => void, milliseconds: number): () => void {
  const timer = setTimeout(callback, milliseconds).unref();
  return () => clearTimeout(timer);
}

/** Members of a replica set for tests: programs `lib/bin/mongod`, killed and forgotten after each test. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { MongoClient } from "mongodb";
import { afterEach, beforeEach, expect } from "vitest";
import type { Program } from "../../cluster/processes.js";
import { root, startProgram } from "../../cluster/processes.js";

const mongod = path.join(root, "lib/bin/mongod");
const programs = new Map<number, Program>();
const clients: MongoClient[] = [];
let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "shardlab-set-"))));
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const port of [...programs.keys()]) await kill(port);
  rmSync(folder, { recursive: true });
});

/** A member on a port of its own choice, or once more on that it had. */
export async function start(name: string, port = 0): Promise<number> {
  const directory = path.join(folder, name);
  mkdirSync(directory, { recursive: true });
  const words = ["--replSet", "rs", "--port", String(port), "--dbpath", directory];
  const program = startProgram(mongod, words, { SHARDLAB_NODE: process.execPath });
  for (let text = await program.line(); text !== undefined; text = await program.line()) {
    const { id, attr } = JSON.parse(text) as { id: number; attr?: { port: number } };
    if (id !== 23016 || !attr) continue;
    programs.set(attr.port, program);
    return attr.port;
  }
  throw new Error(`no port: ${program.stderr()}`);
}

export async function kill(port: number): Promise<void> {
  const program = programs.get(port);
  programs.delete(port);
  program?.child.kill("SIGKILL");
  await program?.ended;
}

export async function connect(options: string, ...ports: number[]): Promise<MongoClient> {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
  const client = new MongoClient(`mongodb://${hosts}/?${options}`, { serverSelectionTimeoutMS: 5_000 });
  clients.push(client);
  return client.connect();
}
export const directly = (port: number): Promise<MongoClient> => connect("directConnection=true", port);

export const config = (ports: number[], version = 1): object => ({
  _id: "rs",
  version,
  members: ports.map((port, _id) => ({ _id, host: `127.0.0.1:${port}`, priority: _id === 0 ? 1 : 0 })),
});

/** Three members, the first of them primary. */
export async function startSet(): Promise<[number, number, number]> {
  const ports = await Promise.all([start("one"), start("two"), start("three")]);
  const admin = (await directly(ports[0])).db("admin");
  expect(await admin.command({ replSetInitiate: config(ports) })).toMatchObject({ ok: 1 });
  return ports;
}

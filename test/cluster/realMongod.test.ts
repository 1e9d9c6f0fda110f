/**
 * Engine `mongod` as far as a machine without MongoDB shows it: how a program is found, what is refused, and the
 * whole way from a found program to a cluster, with our own server under another name in MongoDB's place.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { MongoClient } from "mongodb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { downloadMongod } from "../../lib/cluster/engines/download.js";
import { chooseMongod, findMongod } from "../../lib/cluster/engines/realMongod.js";
import { banner, Cluster, ClusterError, ownProgramPath } from "../../lib/cluster/index.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "shardlab-real-"));
  vi.stubEnv("TMPDIR", folder); // the clusters' own folders
  // Caches of whoever runs the tests are not ours to look into.
  vi.stubEnv("MONGOMS_DOWNLOAD_DIR", path.join(folder, "cache"));
  vi.stubEnv("HOME", folder);
  vi.stubEnv("SHARDLAB_MONGOD", "");
  vi.stubEnv("MONGOMS_SYSTEM_BINARY", "");
  vi.spyOn(process, "cwd").mockReturnValue(folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** A program that says it is MongoDB of this version, and is ours for the rest. */
function fakeMongod(version: string, name = "mongod", directory = folder): string {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, name);
  writeFileSync(
    file,
    `#!/bin/sh
[ "$1" = --version ] && { echo "db version v${version}"; exit; }
echo "$@" >> "${folder}/started"
exec "${ownProgramPath()}" "$@"
`,
  );
  chmodSync(file, 0o755);
  return file;
}

async function failure(work: Promise<unknown>): Promise<ClusterError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ClusterError);
  expect((error as ClusterError).message).not.toContain("\n");
  return error as ClusterError;
}

describe("a mongod is found", () => {
  it("where SHARDLAB_MONGOD says, before all others", async () => {
    const named = fakeMongod("8.0.4", "my-mongod");
    fakeMongod("8.2.0", "mongod", path.join(folder, "bin"));
    expect(await findMongod({ SHARDLAB_MONGOD: named, PATH: path.join(folder, "bin") })).toMatchObject({
      path: named,
      version: "8.0.4",
      args: ["--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "16"],
    });
  });

  it("on the PATH, the first that can be executed; our own script is none", async () => {
    mkdirSync(path.join(folder, "a"));
    writeFileSync(path.join(folder, "a/mongod"), "not a program");
    const right = fakeMongod("8.1.0", "mongod", path.join(folder, "b"));
    const searchPath = ["", "/nowhere", path.dirname(ownProgramPath()), `${folder}/a`, `${folder}/b`].join(
      ":",
    );
    expect(await findMongod({ PATH: searchPath })).toMatchObject({ path: right, version: "8.1.0" });
  });

  it("in mongodb-memory-server's cache, the newest that is whole; the cache stays as it is", async () => {
    const cache = path.join(folder, "cache");
    fakeMongod("7.0.14", "mongod-x64-debian-7.0.14", cache);
    fakeMongod("8.0.4", "mongod-x64-debian-8.0.4", cache);
    const right = fakeMongod("8.0.12", "mongod-x64-debian-8.0.12", cache);
    fakeMongod("8.2.6", "mongod-x64-debian-8.2.6", cache);
    writeFileSync(path.join(cache, "8.2.6.lock"), "1 someone is unpacking it");
    for (const name of readdirSync(cache)) utimesSync(path.join(cache, name), 1, 1);
    const before = readdirSync(cache);
    expect(await findMongod({ PATH: "" })).toMatchObject({ path: right, version: "8.0.12" });
    expect(readdirSync(cache)).toEqual(before);
  });

  it("nowhere on an empty machine", async () => {
    expect(await findMongod({ PATH: folder })).toBeUndefined();
    vi.stubEnv("PATH", folder);
    expect((await failure(chooseMongod(false, () => undefined))).message).toBe(
      "no mongod was found on this machine; install MongoDB 8 so that mongod is on the PATH, set SHARDLAB_MONGOD to the program, allow a download with --download or SHARDLAB_DOWNLOAD=1, or use --engine process",
    );
  });
});

describe("a mongod is refused that", () => {
  it("is too old, rather than passed over", async () => {
    const old = fakeMongod("7.0.14");
    expect((await failure(findMongod({ SHARDLAB_MONGOD: old }))).message).toMatch(
      /^SHARDLAB_MONGOD is .*\/mongod, which is MongoDB 7\.0\.14: too old, 8\.0 or newer is needed; install MongoDB 8 /,
    );
    expect((await failure(findMongod({ PATH: folder }))).message).toMatch(/^mongod on the PATH is /);
  });

  it.each([
    ["is not there", () => undefined, "there is no such file"],
    ["may not be executed", (file: string) => writeFileSync(file, ""), "it may not be executed"],
    [
      "is another program",
      (file: string) => (writeFileSync(file, "#!/bin/sh\necho hello\n"), chmodSync(file, 0o755)),
      "it does not say a version, so it is no mongod",
    ],
  ])("%s", async (_, make, why) => {
    const file = path.join(folder, "mongod");
    make(file);
    const error = await failure(findMongod({ SHARDLAB_MONGOD: file }));
    expect(error.message).toContain(
      `SHARDLAB_MONGOD is ${file}, which can't be used: ${why}; install MongoDB 8`,
    );
    expect(error.code).toBe("engine-unavailable");
  });
});

describe("a cluster on a found mongod", () => {
  it("runs on that program, with small caches, and whatever MONGOMS_SYSTEM_BINARY says", async () => {
    vi.stubEnv("SHARDLAB_MONGOD", fakeMongod("8.0.4"));
    vi.stubEnv("MONGOMS_SYSTEM_BINARY", ownProgramPath());
    const said: string[] = [];
    const cluster = await Cluster.start({ engine: "mongod", shards: 2 }, (line) => said.push(line));
    expect(said[0]).toBe(`starting cfg, shardA, shardB: ${folder}/mongod 8.0.4`);
    expect(cluster.info).toMatchObject({ engine: "mongod", capabilities: { killShard: true } });
    // The fake runs our own program, and the banner says so whatever the program's name.
    expect(cluster.info.shardProgram).toMatchObject({ simulated: true });
    expect(banner(cluster.info)).toContain("no MongoDB server");
    const client = await new MongoClient(cluster.info.uri, { serverSelectionTimeoutMS: 5_000 }).connect();
    await client.db("admin").command({ shardCollection: "library.loans", key: { memberId: "hashed" } });
    await client
      .db("library")
      .collection("loans")
      .insertMany([{ memberId: 1 }, { memberId: 2 }]);
    expect(await client.db("library").collection("loans").countDocuments()).toBe(2);
    await client.close();
    await cluster.close();
    const starts = readFileSync(path.join(folder, "started"), "utf8").trim().split("\n");
    expect(starts).toHaveLength(3);
    for (const words of starts) {
      expect(words).toMatch(
        /^--port \d+ --dbpath \S+ --replSet (cfg|shardA|shardB) --storageEngine wiredTiger --bind_ip 127\.0\.0\.1 --noauth --wiredTigerCacheSizeGB 0\.25 --oplogSize 16$/,
      );
    }
  });

  it("that does not start: one line with its last words, and nothing stays", async () => {
    const file = path.join(folder, "mongod");
    writeFileSync(
      file,
      `#!/bin/sh
[ "$1" = --version ] && { echo "db version v8.0.4"; exit; }
echo "mongod: error while loading shared libraries: libcrypto.so.3" >&2
exit 127
`,
    );
    chmodSync(file, 0o755);
    vi.stubEnv("SHARDLAB_MONGOD", file);
    const error = await failure(Cluster.start({ engine: "mongod", shards: 1 }, () => undefined));
    expect(error.message).toMatch(
      /^(cfg|shardA) did not start: mongod: error while loading shared libraries: libcrypto\.so\.3; look at what .*\/mongod says when you start it by hand$/,
    );
    expect(readdirSync(folder)).toEqual(["mongod"]);
  });
});

describe("a download", () => {
  let mirror: Server | undefined;
  afterEach(() => mirror?.close());

  /** The download server, as this test wants it to be. */
  async function serveMirror(answer: Parameters<typeof createServer>[1]): Promise<void> {
    mirror = createServer(answer as never);
    await new Promise<void>((resolve) => mirror?.listen(0, "127.0.0.1", resolve));
    vi.stubEnv("MONGOMS_DOWNLOAD_MIRROR", `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`);
    vi.stubEnv("MONGOMS_USE_HTTP", "true");
    vi.stubEnv("MONGOMS_MAX_RETRIES", "1");
    vi.stubEnv("MONGOMS_DISTRO", "ubuntu-22.04");
    for (const name of ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "npm_config_proxy"])
      vi.stubEnv(name, "");
  }

  const leftovers = (): string[] =>
    existsSync(path.join(folder, "cache")) ? readdirSync(path.join(folder, "cache")) : [];

  it("is never tried unasked", async () => {
    let asked = 0;
    await serveMirror((_, response) => (asked++, response.writeHead(500).end()));
    vi.stubEnv("PATH", folder);
    await failure(Cluster.start({ engine: "mongod", shards: 1 }, () => undefined));
    expect(asked).toBe(0);
  });

  it("that nobody answers says so and leaves nothing", async () => {
    await serveMirror(() => undefined);
    mirror?.close();
    const error = await failure(downloadMongod(() => undefined));
    expect(error.message).toMatch(
      /^MongoDB 8\.2\.6 could not be downloaded: .*ECONNREFUSED.*; check the network, set SHARDLAB_MONGOD/,
    );
    expect(leftovers()).toEqual([]);
  });

  it("that is not there says so", async () => {
    await serveMirror((_, response) => response.writeHead(403).end());
    expect((await failure(downloadMongod(() => undefined))).message).toContain("403");
    expect(leftovers()).toEqual([]);
  });

  it("that breaks off, or is no archive, leaves no half file; progress is told", async () => {
    await serveMirror((request, response) => {
      if (request.url?.endsWith(".md5")) return response.end("0".repeat(32));
      response.writeHead(200, { "content-length": "1000000" });
      response.write(Buffer.alloc(200_000), () => setTimeout(() => response.destroy(), 50));
    });
    const said: string[] = [];
    expect((await failure(downloadMongod((line) => said.push(line)))).message).toContain(
      "could not be downloaded",
    );
    expect(leftovers()).toEqual([]);
    expect(said[0]).toBe(`downloading MongoDB 8.2.6 to ${folder}/cache`);
    expect(said[1]).toMatch(/^downloading MongoDB 8\.2\.6: \d+ % \(\d\.\d of 1\.0 MB\)$/);
  });

  it("that ends well is found by the next start", async () => {
    const archive = tarball("mongodb-linux/bin/mongod", '#!/bin/sh\necho "db version v8.2.6"\n');
    await serveMirror((request, response) => {
      if (request.url?.endsWith(".md5"))
        return response.setHeader("content-length", 32).end(createHash("md5").update(archive).digest("hex"));
      response.writeHead(200, { "content-length": String(archive.length) }).end(archive);
    });
    vi.stubEnv("PATH", "/usr/bin:/bin");
    const { path: program, version } = await chooseMongod(true, () => undefined);
    expect(version).toBe("8.2.6");
    expect(program.startsWith(path.join(folder, "cache"))).toBe(true);
    expect(await findMongod({ PATH: "" })).toMatchObject({ path: program });
  });
});

/** A .tgz with one file, as MongoDB packs its server. */
function tarball(name: string, text: string): Buffer {
  const from = path.join(folder, "pack");
  mkdirSync(path.dirname(path.join(from, name)), { recursive: true });
  writeFileSync(path.join(from, name), text, { mode: 0o755 });
  execFileSync("tar", ["-czf", `${from}.tgz`, "-C", from, "."]);
  return readFileSync(`${from}.tgz`);
}

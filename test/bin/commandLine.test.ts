import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OptionsError, readCommandLine } from "../../lib/bin/commandLine.js";
import { helpText, MONGOD_OPTIONS as OPTIONS } from "../../lib/bin/optionTable.js";

const read = (line: string) => readCommandLine(line.split(" ").filter(Boolean));

function refusal(line: string): string {
  try {
    read(line);
  } catch (error) {
    if (error instanceof OptionsError) return error.message;
    throw error;
  }
  throw new Error(`accepted: ${line}`);
}

describe("mongod's command line", () => {
  it("has MongoDB's defaults", () => {
    expect(read("")).toMatchObject({
      port: 27_017,
      bindIps: ["127.0.0.1"],
      dbPath: "/data/db",
      replSet: undefined,
      quiet: false,
      verbosity: 0,
      parsed: {},
    });
  });

  it.each([
    ["--shardsvr --replSet a", 27_018],
    ["--configsvr --replSet a", 27_019],
    ["--configsvr --replSet a --port 4000", 4000],
    ["--port 0", 0],
  ])("%s listens on %i", (line, port) => {
    expect(read(line).port).toBe(port);
  });

  it.each([
    ["--port=27555", { net: { port: 27_555 } }],
    ["-port 27555", { net: { port: 27_555 } }],
    ["--replSet rs0 --shardsvr", { replication: { replSet: "rs0" }, sharding: { clusterRole: "shardsvr" } }],
    ["--noauth", { security: { authorization: "disabled" } }],
    ["--nounixsocket", { net: { unixDomainSocket: { enabled: false } } }],
    ["-vvv", { systemLog: { verbosity: 3 } }],
    ["--verbose", { systemLog: { verbosity: 1 } }],
    ["--logpath /x --logappend", { systemLog: { path: "/x", logAppend: true, destination: "file" } }],
    ["--setParameter a=1 --setParameter b=x=y", { setParameter: { a: "1", b: "x=y" } }],
    [
      "--wiredTigerCacheSizeGB 0.25 --oplogSize 16",
      { storage: { wiredTiger: { engineConfig: { cacheSizeGB: 0.25 } } }, replication: { oplogSizeMB: 16 } },
    ],
  ])("%s is told to getCmdLineOpts as the configuration file has it", (line, parsed) => {
    expect(read(line).parsed).toEqual(parsed);
  });

  it("takes what mongodb-memory-server gives it", () => {
    const words =
      "--port 1234 --dbpath /tmp/x --replSet rs --storageEngine wiredTiger --bind_ip 127.0.0.1 --noauth";
    expect(read(words)).toMatchObject({
      port: 1234,
      dbPath: "/tmp/x",
      replSet: "rs",
      bindIps: ["127.0.0.1"],
    });
  });

  it.each([
    ["--bind_ip localhost", ["127.0.0.1"]],
    ["--bind_ip localhost --ipv6", ["127.0.0.1", "::1"]],
    ["--bind_ip localhost,10.0.0.1", ["127.0.0.1", "10.0.0.1"]],
    ["--bind_ip 127.0.0.1,localhost", ["127.0.0.1"]],
    ["--bind_ip_all", ["0.0.0.0"]],
    ["--bind_ip_all --ipv6", ["::"]],
    ["--bind_ip *", ["0.0.0.0"]],
  ])("%s means the addresses %j", (line, addresses) => {
    expect(read(line).bindIps).toEqual(addresses);
  });

  it.each([
    ["--x", "Error parsing command line: unrecognised option '--x'"],
    ["--por 1", "Error parsing command line: unrecognised option '--por'"],
    ["--smallfiles", "Error parsing command line: unrecognised option '--smallfiles'"],
    ["--nojournal", "Error parsing command line: unrecognised option '--nojournal'"],
    ["--port", "Error parsing command line: the required argument for option '--port' is missing"],
    ["--port --quiet", "Error parsing command line: the required argument for option '--port' is missing"],
    ["--port abc", "Error parsing command line: the argument ('abc') for option '--port' is invalid"],
    ["--port 1.5", "Error parsing command line: the argument ('1.5') for option '--port' is invalid"],
    ["--quiet=1", "Error parsing command line: option '--quiet' does not take any arguments"],
    ["--port 1 --port 2", "Error parsing command line: option '--port' cannot be specified more than once"],
    [
      "data",
      "Error parsing command line: too many positional options have been specified on the command line",
    ],
    [
      "--port 70000",
      "BadValue: Invalid value for net.port: 70000; it has to be a whole number from 0 to 65535",
    ],
    ["--setParameter a", "Illegal assignment: a; write --setParameter NAME=VALUE"],
    [
      "--shardsvr",
      "BadValue: Cannot start a shardsvr as a standalone server. Please use the option --replSet to start the node as a replica set.",
    ],
    ["--shardsvr --configsvr --replSet a", "BadValue: --configsvr and --shardsvr can't be used together"],
    ["--bind_ip /tmp/x.sock", "BadValue: bind_ip /tmp/x.sock: Unix domain sockets are not simulated"],
    ["--auth", "--auth can't be used: users, passwords and keys are not simulated"],
    ["--keyFile /k", "--keyFile can't be used: users, passwords and keys are not simulated"],
    ["--tlsCAFile /k", "--tlsCAFile can't be used: TLS is not simulated"],
    ["--tlsMode requireTLS", "BadValue: Invalid value for net.tls.mode: requireTLS; TLS is not simulated"],
    ["--fork --logpath /x", "--fork can't be used: a program that goes into the background is not simulated"],
    ["--profile 1", "BadValue: Invalid value for operationProfiling.mode: 1; the profiler is not simulated"],
    ["--config /nowhere/mongod.conf", "Error opening config file: ENOENT: no such file or directory"],
  ])("%s is refused", (line, message) => {
    expect(refusal(line)).toBe(message);
  });

  it("accepts or refuses every option by name; none crashes it", () => {
    const arguments_: Record<string, string> = {
      integer: "7",
      number: "1",
      text: "x",
      boolean: "true",
      parameter: "a=1",
    };
    for (const { name, kind, fate } of OPTIONS) {
      const line = `--${name}${kind in arguments_ ? `=${arguments_[kind]}` : ""}`;
      if (fate === "refused") expect(refusal(line), line).toContain("not simulated");
      else if (fate === "idle") expect(() => read(line), line).not.toThrow();
    }
  });

  it("explains every option in groups", () => {
    const help = helpText();
    for (const group of ["General", "Replication", "Sharding", "Storage", "WiredTiger", "TLS"])
      expect(help).toContain(`\n${group} options:\n`);
    for (const { name } of OPTIONS) expect(help).toMatch(new RegExp(String.raw`--${name}( \]|\b)`));
  });
});

describe("mongod's configuration file", () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), "shardlab-conf-"))));
  afterAll(() => rmSync(folder, { recursive: true }));

  const withFile = (text: string, more = ""): string => {
    const file = path.join(folder, "mongod.conf");
    writeFileSync(file, text);
    return `--config ${file} ${more}`;
  };

  const DEBIAN = `# mongod.conf
storage:
  dbPath: /var/lib/mongodb   # where to
#  engine:

systemLog:
  destination: file
  logAppend: true
  path: "/var/log/mongodb/mongod.log"

net:
  port: 27117
  bindIp: 127.0.0.1,10.0.0.5

processManagement:
  pidFilePath: '/run/it''s.pid'
security:
  authorization: disabled
replication:
  replSetName: rs0
sharding:
  clusterRole: shardsvr
setParameter:
  enableTestCommands: 1
`;

  it("is read as the one that Debian installs", () => {
    expect(read(withFile(DEBIAN))).toMatchObject({
      port: 27_117,
      bindIps: ["127.0.0.1", "10.0.0.5"],
      dbPath: "/var/lib/mongodb",
      logPath: "/var/log/mongodb/mongod.log",
      logAppend: true,
      pidFile: "/run/it's.pid",
      replSet: "rs0",
      parameters: { enableTestCommands: "1" },
    });
  });

  it("gives way to the command line", () => {
    expect(read(withFile(DEBIAN, "--port 1")).port).toBe(1);
  });

  it("may be JSON, as containers write it", () => {
    expect(read(withFile('{"net": {"port": 5, "bindIpAll": true}}'))).toMatchObject({
      port: 5,
      bindIps: ["0.0.0.0"],
    });
  });

  it.each([
    ["net:\n  prot: 1\n", "Unrecognized option: net.prot"],
    [
      "security:\n  authorization: enabled\n",
      "security.authorization can't be used: users, passwords and keys are not simulated",
    ],
    [
      "processManagement:\n  fork: true\n",
      "processManagement.fork can't be used: a program that goes into the background is not simulated",
    ],
    ["net:\n  port: many\n", "Error: net.port has to be a number"],
    ["net:\n  port: 1\n  port: 2\n", "Error parsing YAML config file: line 3: port is there twice"],
    [
      "net:\n  port: 1\n bindIp: x\n",
      "Error parsing YAML config file: line 3: the indentation fits no line above",
    ],
    ["net:\n  - port\n", "Error parsing YAML config file: line 2: only 'name: value' is understood here"],
    [
      "net: &a\n  port: 1\n",
      "Error parsing YAML config file: line 1: &a is YAML that is not understood here",
    ],
    ["net: |\n", "Error parsing YAML config file: line 1: | is YAML that is not understood here"],
    ["\tnet: 1\n", "Error parsing YAML config file: line 1: a tab can't indent"],
    ["__proto__:\n  port: 1\n", "Unrecognized option: __proto__.port"],
  ])("%j is refused", (text, message) => {
    expect(refusal(withFile(text))).toBe(message);
  });

  it("may say that something is off", () => {
    expect(read(withFile("processManagement:\n  fork: false\noperationProfiling:\n  mode: off\n")).port).toBe(
      27_017,
    );
  });
});

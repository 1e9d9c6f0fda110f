/**
 * The command lines of mongod and mongos as tables: every option of the 8.x community programs, with what becomes of it
 * here.
 *
 * Three fates, and no fourth:
 * - `used`: it does what it does in MongoDB.
 * - `idle`: accepted, and nothing to act on, because everything is in memory: cache sizes, compressors.
 *   It can't change an answer.
 * - `refused`: it would change what clients may or may not do, and we can't: the program says so and ends.
 */

/** What an option takes. `levels` is `-v`, `-vv`, … or a number. */
export type OptionKind = "switch" | "text" | "integer" | "number" | "boolean" | "levels" | "parameter";

/** One option of the command line and of the configuration file. */
export interface OptionRule {
  readonly name: string;
  readonly short?: string;
  readonly kind: OptionKind;
  /** Where the configuration file and getCmdLineOpts have it; absent: command line only. */
  readonly path?: string;
  /** Another name in the configuration file. */
  readonly filePath?: string;
  /** What a switch sets at `path`. */
  readonly means?: unknown;
  readonly fate: "used" | "idle" | "refused";
  /** For `--help`; of a refused option: what is not simulated. */
  readonly about: string;
}

/** A heading of `--help` and its options. */
export interface OptionGroup {
  readonly title: string;
  readonly options: readonly OptionRule[];
}

type Extra = Partial<Pick<OptionRule, "short" | "filePath" | "means">>;

function used(name: string, kind: OptionKind, path: string, about: string, extra: Extra = {}): OptionRule {
  return { name, kind, fate: "used", about, ...(path && { path }), ...extra };
}

function idle(name: string, kind: OptionKind, path: string, extra: Extra = {}): OptionRule {
  return { name, kind, path, fate: "idle", about: "accepted, without effect in memory", ...extra };
}

function refused(name: string, kind: OptionKind, path: string, about: string, extra: Extra = {}): OptionRule {
  return { name, kind, fate: "refused", about, ...(path && { path }), ...extra };
}

const TLS = "TLS";
const AUTH = "users, passwords and keys";
const SOCKETS = "Unix domain sockets";
const FILES = "data files";

/** mongod's options in the order of `--help`. */
const MONGOD_GROUPS: readonly OptionGroup[] = [
  {
    title: "General options",
    options: [
      used("help", "switch", "", "print this text and end", { short: "h" }),
      used("version", "switch", "", "print the version and end"),
      used("config", "text", "config", "configuration file: YAML or JSON", { short: "f" }),
      refused("configExpand", "text", "", "values of the configuration file that come from elsewhere"),
      used(
        "port",
        "integer",
        "net.port",
        "port to listen on: 27017; 27018 with --shardsvr, 27019 with --configsvr",
      ),
      used("bind_ip", "text", "net.bindIp", "addresses to listen on, with commas between them: localhost"),
      used("bind_ip_all", "switch", "net.bindIpAll", "listen on every address"),
      used("ipv6", "switch", "net.ipv6", "listen on IPv6 addresses too"),
      idle("listenBacklog", "integer", "net.listenBacklog"),
      used("maxConns", "integer", "net.maxIncomingConnections", "most clients at once: 1000000"),
      used("pidfilepath", "text", "processManagement.pidFilePath", "file for the number of the process"),
      idle("nounixsocket", "switch", "net.unixDomainSocket.enabled", { means: false }),
      refused("unixSocketPrefix", "text", "net.unixDomainSocket.pathPrefix", SOCKETS),
      refused("filePermissions", "text", "net.unixDomainSocket.filePermissions", SOCKETS),
      refused("fork", "switch", "processManagement.fork", "a program that goes into the background"),
      refused("timeZoneInfo", "text", "processManagement.timeZoneInfo", "another time zone database"),
      used("verbose", "levels", "systemLog.verbosity", "log more; -vv for more still", { short: "v" }),
      used("quiet", "switch", "systemLog.quiet", "don't log each connection"),
      used("logpath", "text", "systemLog.path", "file for the log, in place of standard output"),
      used("logappend", "switch", "systemLog.logAppend", "go on in the file that --logpath finds"),
      used(
        "logRotate",
        "text",
        "systemLog.logRotate",
        "what SIGUSR1 does with the log file: rename or reopen",
      ),
      used("timeStampFormat", "text", "systemLog.timeStampFormat", "iso8601-local (as it is) or iso8601-utc"),
      refused("syslog", "switch", "", "the system's log"),
      refused("syslogFacility", "text", "systemLog.syslogFacility", "the system's log"),
      used("setParameter", "parameter", "setParameter", "a server parameter, NAME=VALUE"),
      used("noauth", "switch", "security.authorization", "no access control, as it is", {
        means: "disabled",
      }),
      refused("auth", "switch", "security.authorization", AUTH, { means: "enabled" }),
      refused("transitionToAuth", "switch", "security.transitionToAuth", AUTH),
      refused("keyFile", "text", "security.keyFile", AUTH),
      refused("clusterAuthMode", "text", "security.clusterAuthMode", AUTH),
      refused("clusterIpSourceAllowlist", "text", "security.clusterIpSourceAllowlist", AUTH),
      idle("noscripting", "switch", "security.javascriptEnabled", { means: false }),
      idle("networkMessageCompressors", "text", "net.compression.compressors"),
      idle("slowms", "integer", "operationProfiling.slowOpThresholdMs"),
      idle("slowOpSampleRate", "number", "operationProfiling.slowOpSampleRate"),
      used("profile", "text", "operationProfiling.mode", "off (0), as it is: there is no profiler"),
      refused("profileFilter", "text", "operationProfiling.filter", "the profiler"),
      refused("notablescan", "switch", "", "--notablescan"),
      refused("sysinfo", "switch", "", "--sysinfo"),
      refused("shutdown", "switch", "", "--shutdown; send SIGTERM to the process"),
    ],
  },
  {
    title: "Replication options",
    options: [
      used("replSet", "text", "replication.replSet", "name of the replica set it is a member of", {
        filePath: "replication.replSetName",
      }),
      idle("oplogSize", "integer", "replication.oplogSizeMB"),
      idle("enableMajorityReadConcern", "boolean", "replication.enableMajorityReadConcern"),
    ],
  },
  {
    title: "Sharding options",
    options: [
      used("configsvr", "switch", "sharding.clusterRole", "config server of a cluster: default port 27019", {
        means: "configsvr",
      }),
      used("shardsvr", "switch", "sharding.clusterRole", "shard of a cluster: default port 27018", {
        means: "shardsvr",
      }),
    ],
  },
  {
    title: "Storage options",
    options: [
      used(
        "dbpath",
        "text",
        "storage.dbPath",
        "a directory that exists: /data/db. mongod.lock and shardlab.journal are put there",
      ),
      used(
        "storageEngine",
        "text",
        "storage.engine",
        "wiredTiger, the name that programs expect, or inMemory; both are memory, the first with a journal on disk",
      ),
      idle("directoryperdb", "switch", "storage.directoryPerDB"),
      idle("syncdelay", "number", "storage.syncPeriodSecs"),
      idle("journalCommitInterval", "integer", "storage.journal.commitIntervalMs"),
      idle("oplogMinRetentionHours", "number", "storage.oplogMinRetentionHours"),
      refused("upgrade", "switch", "", FILES),
      refused("repair", "switch", "", FILES),
      refused("restore", "switch", "", FILES),
    ],
  },
  {
    title: "WiredTiger options",
    options: [
      idle("wiredTigerCacheSizeGB", "number", "storage.wiredTiger.engineConfig.cacheSizeGB"),
      idle("wiredTigerCacheSizePct", "number", "storage.wiredTiger.engineConfig.cacheSizePct"),
      idle("wiredTigerJournalCompressor", "text", "storage.wiredTiger.engineConfig.journalCompressor"),
      idle("wiredTigerDirectoryForIndexes", "switch", "storage.wiredTiger.engineConfig.directoryForIndexes"),
      idle("zstdDefaultCompressionLevel", "integer", "storage.wiredTiger.engineConfig.zstdCompressionLevel"),
      idle(
        "wiredTigerCollectionBlockCompressor",
        "text",
        "storage.wiredTiger.collectionConfig.blockCompressor",
      ),
      idle("wiredTigerIndexPrefixCompression", "boolean", "storage.wiredTiger.indexConfig.prefixCompression"),
    ],
  },
  {
    title: "TLS options",
    options: [
      used("tlsMode", "text", "net.tls.mode", "disabled, as it is"),
      refused("tlsOnNormalPorts", "switch", "", TLS),
      refused("tlsCertificateKeyFile", "text", "net.tls.certificateKeyFile", TLS),
      refused("tlsCertificateKeyFilePassword", "text", "net.tls.certificateKeyFilePassword", TLS),
      refused("tlsClusterFile", "text", "net.tls.clusterFile", TLS),
      refused("tlsClusterPassword", "text", "net.tls.clusterPassword", TLS),
      refused("tlsCAFile", "text", "net.tls.CAFile", TLS),
      refused("tlsClusterCAFile", "text", "net.tls.clusterCAFile", TLS),
      refused("tlsCRLFile", "text", "net.tls.CRLFile", TLS),
      refused("tlsDisabledProtocols", "text", "net.tls.disabledProtocols", TLS),
      refused(
        "tlsAllowConnectionsWithoutCertificates",
        "switch",
        "net.tls.allowConnectionsWithoutCertificates",
        TLS,
      ),
      refused("tlsAllowInvalidHostnames", "switch", "net.tls.allowInvalidHostnames", TLS),
      refused("tlsAllowInvalidCertificates", "switch", "net.tls.allowInvalidCertificates", TLS),
      refused("tlsFIPSMode", "switch", "net.tls.FIPSMode", TLS),
      refused("tlsLogVersions", "text", "net.tls.logVersions", TLS),
    ],
  },
];

/** General options of a mongod that a mongos hasn't. */
const NOT_OF_MONGOS: ReadonlySet<string> = new Set([
  "port",
  "noauth",
  "auth",
  "profile",
  "notablescan",
  "sysinfo",
  "shutdown",
]);

/** mongos' options in the order of `--help`. */
const MONGOS_GROUPS: readonly OptionGroup[] = MONGOD_GROUPS.flatMap((group): OptionGroup[] => {
  switch (group.title) {
    case "General options":
      return [
        {
          title: group.title,
          options: [
            ...group.options.filter(({ name }) => !NOT_OF_MONGOS.has(name)),
            used("port", "integer", "net.port", "port to listen on: 27017"),
          ],
        },
      ];
    case "Sharding options":
      return [
        {
          title: group.title,
          options: [
            used(
              "configdb",
              "text",
              "sharding.configDB",
              "the config servers: <set name>/<host>:<port>; port 27019 unless it says otherwise",
            ),
            idle("localThreshold", "integer", "replication.localPingThresholdMs"),
          ],
        },
      ];
    case "TLS options":
      return [group];
    default:
      return [];
  }
});

/** Every option of mongod. */
export const MONGOD_OPTIONS: readonly OptionRule[] = MONGOD_GROUPS.flatMap((group) => group.options);

/** Every option of mongos. */
export const MONGOS_OPTIONS: readonly OptionRule[] = MONGOS_GROUPS.flatMap((group) => group.options);

/** `--help` of mongod, in groups. */
export function helpText(): string {
  return help("Shardlab's mongod: MongoDB's program in memory, with a journal on disk.", MONGOD_GROUPS);
}

/** `--help` of mongos, in groups. */
export function routerHelpText(): string {
  const text = help("Shardlab's mongos: the router of a sharded cluster, simulated.", MONGOS_GROUPS);
  return `${text}
Environment:
  SHARDLAB_RULES   whose sharding rules it follows, 2.4 to 8.0; 8.0 unless it says otherwise
  SHARDLAB_CLOCK   virtual: what MongoDB waits for is reported, not waited for; real: it waits. Default virtual
  SHARDLAB_SEED    repeats its random choices
`;
}

function help(first: string, groups: readonly OptionGroup[]): string {
  const lines = [first, "Options:"];
  for (const { title, options } of groups) {
    lines.push("", `${title}:`);
    for (const option of options) {
      const name = `  ${option.short ? `-${option.short} [ --${option.name} ]` : `--${option.name}`}`;
      const argument = option.kind === "switch" ? "" : option.kind === "levels" ? " [=arg]" : " arg";
      const about = option.fate === "refused" ? `not simulated: ${option.about}` : option.about;
      lines.push(`${`${name}${argument}`.padEnd(46)} ${about}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

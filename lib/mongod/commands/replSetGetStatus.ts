/** replSetGetStatus: the replica set. Members that follow (config.ts) are always there and up to date. */
import { date, double, int64, timestamp } from "../../bson/index.js";
import type { Command } from "../command.js";
import { memberOf } from "../replication/member.js";
import { treeReply } from "../tree.js";

export const replSetGetStatus: Command = {
  name: "replSetGetStatus",
  fields: ["initialSync"],
  adminOnly: true,
  onSecondary: "always",
  help: "Report status of a replica set from the POV of this server",
  run({ server }) {
    const set = memberOf(server);
    const { state } = set;
    const { config } = set;
    const primary = state === "primary";
    const now = server.environment.now();
    const voters = config.members.filter(({ votes }) => votes > 0).length;
    const majority = Math.floor(voters / 2) + 1;
    const optime = { ts: timestamp(Math.floor(now / 1000), 1), t: int64(set.term) };
    const elected = { electionTime: set.electionTime, electionDate: date(set.electedAt) };
    return treeReply({
      set: set.name,
      date: date(now),
      myState: primary ? 1 : 2,
      term: int64(set.term),
      syncSourceHost: "",
      syncSourceId: -1,
      heartbeatIntervalMillis: int64(2000),
      majorityVoteCount: majority,
      writeMajorityCount: majority,
      votingMembersCount: voters,
      writableVotingMembersCount: voters,
      optimes: {
        lastCommittedOpTime: optime,
        lastCommittedWallTime: date(now),
        readConcernMajorityOpTime: optime,
        appliedOpTime: optime,
        durableOpTime: optime,
        lastAppliedWallTime: date(now),
        lastDurableWallTime: date(now),
      },
      members: config.members.map(({ _id, host }) => {
        const self = host === config.host;
        const isPrimary = self ? primary : host === config.primary;
        const syncsFrom = isPrimary || config.members.length === 1 ? "" : config.primary;
        return {
          _id,
          name: host,
          health: double(1),
          state: isPrimary ? 1 : 2,
          stateStr: isPrimary ? "PRIMARY" : "SECONDARY",
          uptime: Math.floor(Math.max(0, now - server.startedAt) / 1000),
          optime,
          optimeDate: date(now),
          lastAppliedWallTime: date(now),
          lastDurableWallTime: date(now),
          ...(self ? {} : { lastHeartbeat: date(now), lastHeartbeatRecv: date(now), pingMs: int64(0) }),
          syncSourceHost: syncsFrom,
          syncSourceId: syncsFrom === "" ? -1 : config.members.findIndex((other) => other.host === syncsFrom),
          infoMessage: "",
          ...(isPrimary && self && elected),
          configVersion: config.version,
          configTerm: config.term,
          ...(self && { self: true }),
          lastHeartbeatMessage: "",
        };
      }),
    });
  },
};

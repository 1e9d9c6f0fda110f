/** replSetGetStatus: the replica set, which has one member. */
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
      majorityVoteCount: 1,
      writeMajorityCount: 1,
      votingMembersCount: 1,
      writableVotingMembersCount: 1,
      optimes: {
        lastCommittedOpTime: optime,
        lastCommittedWallTime: date(now),
        readConcernMajorityOpTime: optime,
        appliedOpTime: optime,
        durableOpTime: optime,
        lastAppliedWallTime: date(now),
        lastDurableWallTime: date(now),
      },
      members: [
        {
          _id: config.memberId,
          name: config.host,
          health: double(1),
          state: primary ? 1 : 2,
          stateStr: primary ? "PRIMARY" : "SECONDARY",
          uptime: Math.floor(Math.max(0, now - server.startedAt) / 1000),
          optime,
          optimeDate: date(now),
          lastAppliedWallTime: date(now),
          lastDurableWallTime: date(now),
          syncSourceHost: "",
          syncSourceId: -1,
          infoMessage: "",
          ...(primary && elected),
          configVersion: config.version,
          configTerm: config.term,
          self: true,
          lastHeartbeatMessage: "",
        },
      ],
    });
  },
};

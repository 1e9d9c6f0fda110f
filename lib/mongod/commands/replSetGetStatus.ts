/** replSetGetStatus: the replica set, which has one member. */
import { date, double, int64, timestamp } from "../../bson/index.js";
import { CommandError, ErrorCode } from "../../protocol/index.js";
import type { Command } from "../command.js";
import { treeReply } from "../tree.js";

export const replSetGetStatus: Command = {
  name: "replSetGetStatus",
  fields: ["initialSync"],
  run({ server }) {
    if (server.replSet === undefined)
      throw new CommandError(ErrorCode.NoReplicationEnabled, "not running with --replSet");
    const now = server.environment.now();
    const optime = { ts: timestamp(Math.floor(now / 1000), 1), t: int64(1) };
    return treeReply({
      set: server.replSet,
      date: date(now),
      myState: 1,
      term: int64(1),
      heartbeatIntervalMillis: int64(2000),
      majorityVoteCount: 1,
      writeMajorityCount: 1,
      votingMembersCount: 1,
      writableVotingMembersCount: 1,
      members: [
        {
          _id: 0,
          name: server.host,
          health: double(1),
          state: 1,
          stateStr: "PRIMARY",
          uptime: Math.floor(Math.max(0, now - server.startedAt) / 1000),
          optime,
          optimeDate: date(now),
          electionTime: timestamp(Math.floor(server.startedAt / 1000), 1),
          electionDate: date(server.startedAt),
          configVersion: 1,
          configTerm: 1,
          self: true,
          lastHeartbeatMessage: "",
        },
      ],
    });
  },
};

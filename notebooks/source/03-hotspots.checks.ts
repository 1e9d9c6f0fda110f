/** Graded questions of lesson 03. */
import { defineLesson, numberOf, question, quiz, sameValue } from "shardlab/checks";
import type { CheckCluster } from "shardlab/checks";

const FIXED = "library.readings_fixed";
const DEVICE_TIMES = { deviceId: "dev-42", ts: { $gte: 0, $lt: 6000 } };
/** 2026-01-01T00:00:00Z in seconds since 1970 is 1767225600 = 0x6955b900. */
const NEW_YEAR = "6955b9000000000000000000";

/** A field of the answer, when the answer is an object. */
function part(answer: unknown, name: string): unknown {
  return typeof answer === "object" && answer !== null
    ? (answer as Record<string, unknown>)[name]
    : undefined;
}

function near(value: unknown, wanted: number): boolean {
  const n = numberOf(value);
  return n !== undefined && Math.abs(Number(n) - wanted) < 0.0006;
}

/** Shards `library.readings_fixed` by some key and loads 10,000 events: the ground for wrong repairs. */
async function repair(cluster: CheckCluster, key: Record<string, unknown>, border?: object): Promise<void> {
  const admin = cluster.db("admin");
  await admin.command({ shardCollection: FIXED, key });
  if (border) {
    await admin.command({ split: FIXED, middle: border });
    const upper = (await cluster.chunks(FIXED)).at(-1)!;
    const other = cluster.info.shards.find((shard) => shard.id !== upper.shard)!;
    await admin.command({ moveChunk: FIXED, find: border, to: other.id });
  }
  const documents = Array.from({ length: 10_000 }, (_, ts) => ({ deviceId: `dev-${ts % 5000}`, i: ts, ts }));
  await cluster.db("library").collection("readings_fixed").insertMany(documents);
}

const ROUTES = { rangedTime: 1, hashedTime: 2, hashedDeviceTime: 1 };

export default defineLesson({
  lesson: "03",
  title: "Hotspots",
  questions: [
    quiz({
      id: "q03-1",
      title: "Spot the bug",
      objective: "See through the argument that many distinct values spread the data",
      misconceptions: ["high cardinality is enough"],
      rules: ["2.4", "4.2", "4.4", "5.0", "6.0", "7.0", "8.0"],
      right: "b",
      wrong: {
        a: "100,000 distinct values are plenty: cardinality isn't what is missing here.",
        c: "enableSharding has not been needed since 6.0, and it would not change where documents go.",
        d: "A number is a good shard key value; the type isn't the trouble.",
      },
      hints: [
        "The comment's first half is true. Think about the second half: in which order do the values arrive?",
        "A chunk is an interval of key values. Which interval takes a value that is larger than all before it?",
        "Every insert goes to the last chunk, the one that ends at MaxKey, and a chunk is on one shard.",
      ],
      rationale:
        "High cardinality is necessary, not sufficient. A value that only grows always belongs to the chunk that ends at MaxKey, and that chunk is on one shard: however many chunks there are, one shard takes all inserts.",
    }),
    question({
      id: "q03-2",
      title: "The hot share",
      objective: "Measure how unevenly a collection is distributed",
      misconceptions: ["high cardinality is enough"],
      rules: "8.0",
      unanswered: { answer: { ranged: 0, hashed: 0 } },
      checks: [
        {
          name: "ranged { ts: 1 }",
          points: 1,
          message:
            "ranged: the share (0 to 1) of the fullest shard among all documents of library.readings_ranged.",
          test: ({ answer }) => near(part(answer, "ranged"), 1),
        },
        {
          name: 'hashed { deviceId: "hashed" }',
          points: 2,
          message:
            "hashed: the share (0 to 1, three decimals matter) of the fullest shard of library.readings_hashed.",
          test: ({ answer }) => near(part(answer, "hashed"), 0.511),
        },
      ],
      hints: [
        "$collStats gives one row for each shard that owns a chunk; storageStats.count is its number of documents.",
        "The hot share is the largest count divided by the sum of all counts.",
        "const counts = rows.map((row) => row.storageStats.count); return Math.max(...counts) / counts.reduce((a, b) => a + b, 0);",
      ],
      rationale:
        "1 is a hotspot: one shard does the work of all. 0.511 on two shards is close to the ideal 0.5. The number is worth remembering: with S shards the best hot share is 1/S, and write capacity is about 1/(hot share) shards.",
      wrongAnswers: [
        {
          name: "hashed exactly half",
          answer: { ranged: 1, hashed: 0.5 },
          message: "Don't assume half: measure. Hashing is even only on average.",
        },
        {
          name: "percent",
          answer: { ranged: 100, hashed: 51.1 },
          message: "These are percent; the share asked for lies between 0 and 1.",
        },
        {
          name: "the emptiest shard",
          answer: { ranged: 0, hashed: 0.489 },
          message: "That is the emptier shard. The fullest one limits the cluster.",
        },
        {
          name: "counts",
          answer: { ranged: 100_000, hashed: 51_100 },
          message: "These are counts; divide by all documents of the collection.",
        },
      ],
    }),
    question({
      id: "q03-3",
      title: "What the even writes cost",
      objective: "Name the queries that a change from a ranged time key to a hashed device key scatters",
      misconceptions: ["hashed is always best"],
      rules: "8.0",
      unanswered: { answer: { rangedTime: 0, hashedTime: 0, hashedDeviceTime: 0 } },
      checks: [
        {
          name: "a time range on { ts: 1 }",
          points: 1,
          message: "rangedTime: the range is one piece of the key line, and here all of it is in one chunk.",
          test: ({ answer }) => sameValue(part(answer, "rangedTime"), ROUTES.rangedTime),
        },
        {
          name: "the same time range on the hashed device key",
          points: 1,
          message: "hashedTime: ts isn't part of that key, so the router can't know who has these readings.",
          test: ({ answer }) => sameValue(part(answer, "hashedTime"), ROUTES.hashedTime),
        },
        {
          name: "one device's time range on the hashed device key",
          points: 1,
          message:
            "hashedDeviceTime: the filter pins the whole key by equality; the rest of the filter doesn't matter for routing.",
          test: ({ answer }) => sameValue(part(answer, "hashedDeviceTime"), ROUTES.hashedDeviceTime),
        },
      ],
      hints: [
        "explain tells: count the entries of queryPlanner.winningPlan.shards for each of the three queries.",
        "Only the shard key routes. For each query ask: is the whole key given as an equality, or a part of the line it lies on?",
        "The first is targeted because one chunk holds the whole range; the second has no key at all; the third has deviceId.",
      ],
      rationale:
        "Nothing is free: on the ranged key a time range was one shard's work, on the hashed key it is everybody's. What stays targeted is what names the device. Choose by the queries you run most, not by the writes alone.",
      wrongAnswers: [
        {
          name: "hashing costs nothing",
          answer: { rangedTime: 1, hashedTime: 1, hashedDeviceTime: 1 },
          message: "The time range without a device is SHARD_MERGE on the hashed key: ask explain.",
        },
        {
          name: "hashed always scatters",
          answer: { rangedTime: 1, hashedTime: 2, hashedDeviceTime: 2 },
          message:
            "An equality on deviceId is hashed by the router and targeted, whatever else the filter holds.",
        },
        {
          name: "ranges always scatter",
          answer: { rangedTime: 2, hashedTime: 2, hashedDeviceTime: 1 },
          message:
            "On a ranged key a range is a piece of the key line; only shards with chunks in that piece are asked.",
        },
      ],
    }),
    question({
      id: "q03-4",
      title: "Does moving the data cure it?",
      objective: "Show that splitting and balancing move a hotspot without ending it",
      misconceptions: ["the balancer cures hot writes", "more shards make every query faster"],
      rules: "8.0",
      unanswered: { answer: { lower: 0, upper: 0 } },
      checks: [
        {
          name: "where the new 20,000 went",
          points: 2,
          message:
            "Count, of the 20,000 readings inserted after the move, those on the shard of the lower half and those on the shard of the upper half.",
          test({ answer }) {
            if (sameValue(answer, { lower: 50_000, upper: 70_000 })) {
              return "That is everything the shards hold now; asked for are the 20,000 new readings only (ts of 100,000 and more).";
            }
            return sameValue(answer, { lower: 0, upper: 20_000 });
          },
        },
      ],
      hints: [
        "The new readings are those with ts of 100,000 and more. Which chunk takes them after the split at 50,000?",
        "Everything from 50,000 to MaxKey is one chunk, and its shard takes every value larger than all before.",
        "lower is 0; the shard to which the upper chunk was moved took all of them.",
      ],
      rationale:
        "The balancer evens out data that is there. The next insert still belongs to the chunk that ends at MaxKey, so the hotspot only changed its address. More chunks or shards don't help either: one of them is always the last.",
      wrongAnswers: [
        {
          name: "even",
          answer: { lower: 10_000, upper: 10_000 },
          message: "Old data is even now, new data isn't: each new ts is larger than every border.",
        },
        {
          name: "on the old shard",
          answer: { lower: 20_000, upper: 0 },
          message:
            "The chunk that ends at MaxKey has moved, and the inserts went with it, to the other shard.",
        },
        {
          name: "everything counted",
          answer: { lower: 50_000, upper: 70_000 },
          message:
            "That is everything the shards hold now; asked for are the 20,000 new readings only (ts of 100,000 and more).",
        },
      ],
    }),
    question({
      id: "q03-5",
      title: "The time inside an ObjectId",
      objective: "See that ObjectIds grow with time, because their first bytes are a clock",
      misconceptions: ["ranged `_id` is fine"],
      rules: ["2.4", "4.2", "4.4", "5.0", "6.0", "7.0", "8.0"],
      unanswered: { answer: "0".repeat(24) },
      checks: [
        {
          name: "24 hexadecimal digits",
          points: 1,
          message: "An ObjectId has 12 bytes: 24 hexadecimal digits as a string.",
          test: ({ answer }) =>
            typeof answer === "string" && /^[0-9a-f]{24}$/i.test(answer) && !/^0+$/.test(answer),
        },
        {
          name: "the first moment of 2026",
          points: 2,
          message:
            "The first 4 bytes are seconds since 1970, most significant byte first; all bytes after them are 0 for the smallest.",
          test: ({ answer }) => typeof answer === "string" && answer.toLowerCase() === NEW_YEAR,
        },
      ],
      hints: [
        "Take it apart: 4 bytes of time, 8 bytes that only tell ObjectIds of the same second apart.",
        "The time is in seconds: Date.UTC(2026, 0, 1) / 1000. toString(16) makes hexadecimal digits of it.",
        '(Date.UTC(2026, 0, 1) / 1000).toString(16).padStart(8, "0") + "0".repeat(16)',
      ],
      rationale:
        "Because the clock comes first, the order of ObjectIds is the order of time. A ranged { _id: 1 } therefore sends every insert to the last chunk, as { ts: 1 } does. The same bytes let you find all documents since a date by _id alone.",
      wrongAnswers: [
        {
          name: "milliseconds",
          answer: Date.UTC(2026, 0, 1).toString(16).padEnd(24, "0"),
          message: "That is the time in milliseconds; an ObjectId counts seconds.",
        },
        {
          name: "decimal digits",
          answer: (Date.UTC(2026, 0, 1) / 1000).toString().padEnd(24, "0"),
          message: "These are decimal digits; write the seconds in hexadecimal: toString(16).",
        },
        {
          name: "largest instead of smallest",
          answer: "6955b900ffffffffffffffff",
          message: "That is the largest ObjectId of that second; the smallest ends in zeros.",
        },
        {
          name: "least significant byte first",
          answer: "00b955690000000000000000",
          message:
            "The seconds are stored most significant byte first; otherwise ObjectIds would not sort by time.",
        },
      ],
    }),
    question({
      id: "q03-6",
      title: "Repair the collection",
      objective: "Choose a key that spreads inserts and keeps one device's readings together",
      misconceptions: ["hashed is always best", "order in a compound key doesn't matter"],
      rules: ["4.4", "5.0", "6.0", "7.0", "8.0"],
      checks: [
        {
          name: "10,000 readings in a sharded collection",
          points: 1,
          message: "library.readings_fixed must be sharded and hold the 10,000 readings.",
          async test({ cluster }) {
            if (!(await cluster.shardKey(FIXED)))
              return "library.readings_fixed isn't sharded yet; shard it before the readings are loaded.";
            const { shards } = await cluster.distribution(FIXED);
            const total = shards.reduce((sum, shard) => sum + shard.documents, 0);
            return total === 10_000 || `It holds ${total} readings; load the 10,000 once, after sharding.`;
          },
        },
        {
          name: "no shard has more than 60 %",
          points: 2,
          message: "One shard has more than 60 % of the readings.",
          async test({ cluster }) {
            const key = await cluster.shardKey(FIXED);
            const { shards } = await cluster.distribution(FIXED);
            const counts = shards.map((shard) => shard.documents);
            const share = Math.max(...counts) / counts.reduce((sum, n) => sum + n, 0);
            if (share <= 0.6) return true;
            if (key && Object.keys(key)[0] === "ts" && key["ts"] === 1) {
              return "ts still leads the key, so every new reading belongs to the last chunk.";
            }
            const chunks = await cluster.chunks(FIXED);
            if (chunks.length === 1)
              return "The key could spread, but there is one chunk: a ranged key starts with one. Split it and move a part, or begin the key with a hashed field.";
            return false;
          },
        },
        {
          name: "one device's time range asks one shard",
          points: 2,
          message:
            'find({ deviceId: "dev-42", ts: { $gte: 0, $lt: 6000 } }) must be SINGLE_SHARD on a collection spread over two shards.',
          async test({ cluster }) {
            const key = await cluster.shardKey(FIXED);
            if (!key) return false;
            const [device, all] = [
              await cluster.routing(FIXED, DEVICE_TIMES),
              await cluster.routing(FIXED, {}),
            ];
            if (all.shards.length < 2) return "It asks one shard only because one shard has everything.";
            if (device.stage === "SINGLE_SHARD") return true;
            if (key["ts"] === "hashed")
              return "Hashing ts spreads the writes, but a device's readings are all over the cluster; the key must begin with deviceId.";
            return false;
          },
        },
      ],
      hints: [
        "Two wishes: inserts spread, and one device's readings together. Which field tells devices apart and arrives in mixed order?",
        'Put deviceId first. Ranged, { deviceId: 1, ts: 1 }, the collection starts as one chunk that you split and move; hashed, { deviceId: "hashed", ts: 1 } (since 4.4), it starts spread.',
        'await lab.sh.shardCollection("library.readings_fixed", { deviceId: "hashed", ts: 1 }); then insert.',
      ],
      rationale:
        'With the device first, simultaneous inserts go to many places of the key line, and each device\'s readings stay neighbours in order of time. What is lost: a time range over all devices asks every shard. Both { deviceId: 1, ts: 1 } (split by hand or by the balancer) and { deviceId: "hashed", ts: 1 } (4.4 and later) are right.',
      wrongAnswers: [
        {
          name: "time first",
          arrange: (cluster) => repair(cluster, { ts: 1, deviceId: 1 }),
          message: "ts still leads the key, so every new reading belongs to the last chunk.",
        },
        {
          name: "hashed time",
          arrange: (cluster) => repair(cluster, { ts: "hashed" }),
          message:
            "Hashing ts spreads the writes, but a device's readings are all over the cluster; the key must begin with deviceId.",
        },
        {
          name: "right key, one chunk",
          arrange: (cluster) => repair(cluster, { deviceId: 1, ts: 1 }),
          message:
            "The key could spread, but there is one chunk: a ranged key starts with one. Split it and move a part, or begin the key with a hashed field.",
        },
        {
          name: "loaded, not sharded",
          arrange: (cluster) =>
            cluster
              .db("library")
              .collection("readings_fixed")
              .insertMany([{ deviceId: "dev-0", ts: 0 }]),
          message: "library.readings_fixed isn't sharded yet; shard it before the readings are loaded.",
        },
        {
          name: "loaded twice",
          async arrange(cluster) {
            await repair(cluster, { deviceId: "hashed", ts: 1 });
            await cluster
              .db("library")
              .collection("readings_fixed")
              .insertMany([{ deviceId: "dev-0", ts: 10_000 }]);
          },
          message: "It holds 10001 readings; load the 10,000 once, after sharding.",
        },
      ],
    }),
    quiz({
      id: "q03-7",
      title: "Quiz: when is a growing key harmless?",
      objective: "Tell a workload that suffers from a monotonic key from one that doesn't",
      misconceptions: ["a monotonic key is always wrong"],
      rules: ["2.4", "4.2", "4.4", "5.0", "6.0", "7.0", "8.0"],
      right: "d",
      wrong: {
        a: "20,000 inserts a second all go to the last chunk: the classic hotspot.",
        b: "Larger chunks change how often data is split and moved, not where the next insert goes.",
        c: "More shards make it worse in proportion: still one of them takes all inserts.",
      },
      hints: [
        "What does a growing key concentrate: inserts, updates or reads?",
        "Updates go where their document already is. Inserts go to the last chunk.",
        "Look for few inserts and many updates spread over old documents.",
      ],
      rationale:
        "A growing key concentrates inserts only. With few of them, or with a load made of updates all over the data, no shard becomes hot, and you keep targeted time ranges. The 2.4 manual said so, and it still holds.",
    }),
  ],
});

/** Graded questions of lesson 02. */
import { createHash } from "node:crypto";
import { hash64, string } from "shardlab/bson";
import { defineLesson, question, quiz, sameValue } from "shardlab/checks";
import type { CheckCluster } from "shardlab/checks";

const NAMES = ["dev-0", "dev-1", "dev-42", "", "Zürich"];
const HASHES = NAMES.map((name) => hash64(string(name)));

/** The recipe with one thing done differently: what each typical mistake computes. */
function hashWith(change: {
  seed?: boolean;
  type?: number;
  typeBytes?: number;
  length?: (text: string) => number;
  terminator?: boolean;
  read?: (digest: Buffer) => bigint;
}): bigint[] {
  const { seed = true, type = 15, typeBytes = 4, terminator = true } = change;
  const length = change.length ?? ((text: string) => Buffer.byteLength(text) + 1);
  const read = change.read ?? ((digest: Buffer) => digest.readBigInt64LE(0));
  const int32 = (n: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(n);
    return bytes;
  };
  return NAMES.map((name) => {
    const bytes = Buffer.concat([
      seed ? int32(0) : Buffer.alloc(0),
      int32(type).subarray(0, typeBytes),
      int32(length(name)),
      Buffer.from(name),
      Buffer.alloc(terminator ? 1 : 0),
    ]);
    return read(createHash("md5").update(bytes).digest());
  });
}

const THIRD = 3074457345618258602n;
const SIXTH = 6148914691236517204n;
const AFTER = [-THIRD, THIRD];
const BEFORE = [-SIXTH, -THIRD, 0n, THIRD, SIXTH];

const MEMBERS = "library.members";
const BORDER = "m-0500";

/** Shards `library.members` some way and fills it: the ground for wrong states. */
async function members(cluster: CheckCluster, key: Record<string, unknown> | undefined): Promise<void> {
  if (key) await cluster.db("admin").command({ shardCollection: MEMBERS, key });
  const documents = Array.from({ length: 1000 }, (_, n) => ({ memberId: `m-${String(n).padStart(4, "0")}` }));
  await cluster.db("library").collection("members").insertMany(documents);
}

async function moveUpper(cluster: CheckCluster, at: string): Promise<void> {
  const admin = cluster.db("admin");
  await admin.command({ split: MEMBERS, middle: { memberId: at } });
  const upper = (await cluster.chunks(MEMBERS)).at(-1)!;
  const other = cluster.info.shards.find((shard) => shard.id !== upper.shard)!;
  await admin.command({ moveChunk: MEMBERS, find: { memberId: at }, to: other.id });
}

/** A field of the answer, when the answer is an object. */
function part(answer: unknown, name: string): unknown {
  return typeof answer === "object" && answer !== null
    ? (answer as Record<string, unknown>)[name]
    : undefined;
}

const ROUTES = { equality: 1, otherField: 2, range: 2, inList: 1 };

export default defineLesson({
  lesson: "02",
  title: "Ranged and hashed keys",
  questions: [
    question({
      id: "q02-1",
      title: "Hash a string as MongoDB does",
      objective: "Compute the 64-bit value that a hashed index stores for a string",
      misconceptions: ["the hash is a secret of the server"],
      rules: ["2.4", "4.2", "4.4", "5.0", "6.0", "7.0", "8.0"],
      unanswered: { answer: [0n, 0n, 0n, 0n, 0n] },
      checks: [
        {
          name: "five 64-bit integers",
          points: 1,
          message: "Give five bigint values that fit a signed 64-bit integer, in the order of the names.",
          test: ({ answer }) =>
            Array.isArray(answer) &&
            answer.length === NAMES.length &&
            new Set(answer.map(String)).size === NAMES.length &&
            answer.every((hash) => typeof hash === "bigint"),
        },
        {
          name: "names in ASCII",
          points: 2,
          message:
            'At least one of "dev-0", "dev-1" and "dev-42" has another hash; go through the recipe byte by byte.',
          test: ({ answer }) => Array.isArray(answer) && sameValue(answer.slice(0, 3), HASHES.slice(0, 3)),
        },
        {
          name: "the empty string and a non-ASCII name",
          points: 1,
          message:
            'Look at "" and "Zürich": the length counts bytes of UTF-8, and the closing zero byte with them.',
          test: ({ answer }) => Array.isArray(answer) && sameValue(answer.slice(3), HASHES.slice(3)),
        },
      ],
      hints: [
        "The worked example for numbers has three parts: seed, type, value. Only the value part has to change its form.",
        "A BSON string is: its length as a 4-byte little-endian integer, its UTF-8 bytes, one zero byte. The length counts the zero byte.",
        'Concatenate int32(0), int32(15), int32(Buffer.byteLength(s) + 1), Buffer.from(s) and one zero byte; then createHash("md5").update(…).digest().readBigInt64LE(0).',
      ],
      rationale:
        "The hash is MD5 over seed, type and value, cut to its first eight bytes. It has been the same since hashed indexes came in 2.4, because every stored hashed index depends on it. Knowing it, you can tell the chunk of a document without asking the cluster.",
      wrongAnswers: [
        {
          name: "length without the zero byte",
          answer: hashWith({ length: (text) => Buffer.byteLength(text) }),
          message: "The length in front of a BSON string counts the closing zero byte too: it is one more.",
        },
        {
          name: "no zero byte",
          answer: hashWith({ terminator: false }),
          message: "A BSON string ends in a zero byte, and the hash covers it.",
        },
        {
          name: "characters instead of bytes",
          answer: hashWith({ length: (text) => text.length + 1 }),
          message: 'The length counts bytes, not characters: "Zürich" has 6 letters and 7 bytes.',
        },
        {
          name: "big-endian result",
          answer: hashWith({ read: (digest) => digest.readBigInt64BE(0) }),
          message: "The eight bytes are read with the least significant first: readBigInt64LE.",
        },
        {
          name: "type in one byte",
          answer: hashWith({ typeBytes: 1 }),
          message: "The type is fed as four bytes (int32, little-endian), not as one.",
        },
        {
          name: "BSON's type number",
          answer: hashWith({ type: 2 }),
          message:
            "2 is the type byte of a string in BSON; the hash uses the canonical type of the sort order: 15.",
        },
        {
          name: "seed left out",
          answer: hashWith({ seed: false }),
          message: "The seed comes first, although it is zero: four zero bytes.",
        },
      ],
    }),
    question({
      id: "q02-2",
      title: "Numbers that share a hash",
      objective: "Know that a hashed key drops the fraction of a number",
      misconceptions: ["hashed is always best"],
      rules: ["2.4", "4.2", "4.4", "5.0", "6.0", "7.0", "8.0"],
      unanswered: { answer: [0] },
      checks: [
        {
          name: "the colliding numbers, no others",
          points: 2,
          message: "Compare the hash of every candidate with the hash of 2.",
          test({ answer }) {
            if (!Array.isArray(answer))
              return "Give an array with those of the candidates that share the hash of 2.";
            const given = [...new Set(answer.map(Number))].sort((a, b) => a - b);
            return sameValue(given, [2.2, 2.5, 2.9]);
          },
        },
      ],
      hints: [
        "Read the third row of the recipe again: what happens to a number before its bytes are taken?",
        "The number becomes a 64-bit integer by cutting its fraction off, towards zero. Nothing is rounded.",
        "candidates.filter((n) => hashNumber(n) === hashNumber(2))",
      ],
      rationale:
        "A hashed index turns numbers into 64-bit integers first, so 2, 2.2, 2.5 and 2.9 share one hash, one chunk and one shard for ever. A measurement such as 0.0…1.0 would have a cardinality of two. Hash identifiers, not fractions (manual, hashed indexes, all versions since 2.4).",
      wrongAnswers: [
        {
          name: "rounded",
          answer: [1.5, 2.2],
          message: "Nothing is rounded: the fraction is cut off, so 1.5 becomes 1 and 2.5 becomes 2.",
        },
        {
          name: "rounded up",
          answer: [1.5],
          message: "The fraction is cut off towards zero, not rounded up: 1.5 becomes 1.",
        },
        {
          name: "none",
          answer: [],
          message: "A hashed index doesn't keep fractions apart: compute hashNumber(2.2) and hashNumber(2).",
        },
        {
          name: "3 as well",
          answer: [2.2, 2.5, 2.9, 3],
          message: "3 is a whole number of its own; only what is cut off to 2 shares the hash of 2.",
        },
      ],
    }),
    question({
      id: "q02-3",
      title: "Initial chunks and their split points",
      objective: "Predict the chunks of an empty hashed collection, today and before 7.2",
      misconceptions: ["a sharded collection starts with one chunk"],
      rules: ["7.0", "8.0"],
      unanswered: { answer: { now: [], before: [] } },
      checks: [
        {
          name: "8.0: split points on three shards",
          points: 2,
          message:
            "Under 8.0 an empty hashed collection gets one chunk a shard: three chunks have two split points.",
          test: ({ answer }) => sameValue(part(answer, "now"), AFTER),
        },
        {
          name: "up to 7.1: split points on three shards",
          points: 2,
          message: "Up to 7.1 it got two chunks a shard: six chunks have five split points, one of them 0.",
          test: ({ answer }) => sameValue(part(answer, "before"), BEFORE),
        },
      ],
      hints: [
        "n chunks have n − 1 borders. How many chunks are there on three shards, under each of the rules?",
        "Work in bigint throughout: 2n ** 63n - 1n is far beyond what a number holds exactly. interval = ((2n ** 63n - 1n) / n) * 2n.",
        "Even n: 0n, then ±interval, ±2·interval, …; odd n: ±interval / 2n first, then a whole interval further each time. Sort at the end. Now is splitPoints(3n), before is splitPoints(6n).",
      ],
      rationale:
        "The hash line is cut into equal parts around 0. Since 7.2 (so under 8.0) there is one part a shard; from 2.4 to 7.1 there were two. An old text that promises two chunks a shard and a new cluster that shows one are both right, each for its version.",
      wrongAnswers: [
        {
          name: "now and before exchanged",
          answer: { now: BEFORE, before: AFTER },
          message:
            "Exchanged: two chunks a shard was the rule up to 7.1, one chunk a shard is the rule since 7.2.",
        },
        {
          name: "the same under both rules",
          answer: { now: AFTER, before: AFTER },
          message: "The number of initial chunks changed with 7.2: before, every shard got two.",
        },
        {
          name: "computed with floating-point numbers",
          answer: {
            now: [-3074457345618258432n, 3074457345618258432n],
            before: [
              -6148914691236516864n,
              -3074457345618258432n,
              0n,
              3074457345618258432n,
              6148914691236516864n,
            ],
          },
          message: "Close, but rounded: a number has 53 bits, a hash 64. Compute with bigint from the start.",
        },
        {
          name: "an even cut for an odd number",
          answer: { now: [-6148914691236517204n, 0n, 6148914691236517204n], before: BEFORE },
          message:
            "Three chunks have two borders and 0 is none of them: for an odd number the first pair is at ±interval / 2.",
        },
      ],
    }),
    question({
      id: "q02-4",
      title: "How even is even?",
      objective: "Explain why a hashed key splits a real data set almost, not exactly, in half",
      misconceptions: ["hashing distributes exactly evenly"],
      rules: "8.0",
      unanswered: { answer: { below: 0, atOrAbove: 0 } },
      checks: [
        {
          name: "documents with a hash below 0",
          points: 1,
          message: "Count the documents (20 a device) whose deviceId hashes below 0.",
          test: ({ answer }) => sameValue(part(answer, "below"), 51_100),
        },
        {
          name: "documents with a hash of 0 or more",
          points: 1,
          message: "Count the documents (20 a device) whose deviceId hashes to 0 or more.",
          test: ({ answer }) => sameValue(part(answer, "atOrAbove"), 48_900),
        },
      ],
      hints: [
        "Every device has 20 documents, and all 20 have the same hash. So count devices first.",
        "Either hash the 5,000 names and count the negative ones, or read it off the cluster: which shard owns the chunk from MinKey to 0, and how many documents has it?",
        'const low = Array.from({ length: 5000 }, (_, n) => hashString("dev-" + n)).filter((h) => h < 0n).length; then ×20, and the rest of 100,000 is above.',
      ],
      rationale:
        "2,555 of the 5,000 names hash below 0, 2,445 to 0 or more. Hashing is like 5,000 coin tosses: about half, never exactly, and better the more distinct values there are. Twenty documents of one device are one toss, not twenty.",
      wrongAnswers: [
        {
          name: "exact halves",
          answer: { below: 50_000, atOrAbove: 50_000 },
          message:
            "Hashing tosses a coin for each distinct value; exact halves would be a rare accident. Count.",
        },
        {
          name: "exchanged",
          answer: { below: 48_900, atOrAbove: 51_100 },
          message: "The numbers are right, but exchanged: the larger half lies below 0.",
        },
        {
          name: "devices instead of documents",
          answer: { below: 2555, atOrAbove: 2445 },
          message: "These are devices. Every device has 20 documents.",
        },
      ],
    }),
    question({
      id: "q02-5",
      title: "How many shards does a query ask?",
      objective: "Tell targeted queries from scattered ones on a hashed key",
      misconceptions: ["any field of the key targets", "a range of the key is targeted", "$in scatters"],
      rules: "8.0",
      unanswered: { answer: { equality: 0, otherField: 0, range: 0, inList: 0 } },
      checks: [
        {
          name: "equality on the key",
          points: 1,
          message: "equality: one value has one hash, one hash lies in one chunk, one chunk is on one shard.",
          test: ({ answer }) => sameValue(part(answer, "equality"), ROUTES.equality),
        },
        {
          name: "a field outside the key",
          points: 1,
          message:
            "otherField: the router knows nothing about i, so it has to ask every shard that owns a chunk.",
          test: ({ answer }) => sameValue(part(answer, "otherField"), ROUTES.otherField),
        },
        {
          name: "a range of the key",
          points: 1,
          message:
            "range: neighbouring values have unrelated hashes, so the range may be anywhere on the hash line.",
          test: ({ answer }) => sameValue(part(answer, "range"), ROUTES.range),
        },
        {
          name: "a list of key values",
          points: 1,
          message:
            'inList: each value is routed by its own hash. Where do the hashes of "dev-0" and "dev-42" lie: below or above 0?',
          test: ({ answer }) => sameValue(part(answer, "inList"), ROUTES.inList),
        },
      ],
      hints: [
        "Ask the router: find(filter).explain() shows, in queryPlanner.winningPlan.shards, one entry for each shard it would ask.",
        "On a hashed key only equality (and a list of equalities) can be hashed. Everything else goes to all shards that own chunks.",
        'The hashes of "dev-0" and "dev-42" are both positive: both lie in the chunk from 0 to MaxKey, so the list needs one shard only.',
      ],
      rationale:
        "Hashing destroys order: an equality is a point on the hash line, a range is not a piece of it. That is the price for even writes, and why a hashed key suits fields you look up by value.",
      wrongAnswers: [
        {
          name: "a range is targeted",
          answer: { ...ROUTES, range: 1 },
          message:
            "Ranges are targeted on ranged keys. Here dev-1 … dev-19 are scattered over the whole hash line: SHARD_MERGE.",
        },
        {
          name: "a list always scatters",
          answer: { ...ROUTES, inList: 2 },
          message:
            "A list is a set of equalities: the router takes the union of their chunks, here a single one.",
        },
        {
          name: "every query is targeted",
          answer: { equality: 1, otherField: 1, range: 1, inList: 1 },
          message: "Only what can be hashed is targeted. Ask explain for { i: 42 } and for the range.",
        },
        {
          name: "hashed collections always scatter",
          answer: { equality: 2, otherField: 2, range: 2, inList: 2 },
          message:
            "The router hashes the value itself: an equality on the key needs one shard. Ask explain for dev-42.",
        },
      ],
    }),
    question({
      id: "q02-6",
      title: "A ranged collection on two shards",
      objective: "Shard by range, split a chunk and move it, so that a range query asks one shard",
      misconceptions: ["ranged sharding spreads an empty collection by itself"],
      rules: "8.0",
      checks: [
        {
          name: "sharded by range of memberId",
          points: 1,
          message: "library.members must have the shard key { memberId: 1 }.",
          async test({ cluster }) {
            const key = await cluster.shardKey(MEMBERS);
            if (!key) return "library.members isn't sharded; use lab.sh.shardCollection.";
            if (key["memberId"] === "hashed")
              return "A hashed key has no order, so no range of members could live together; use { memberId: 1 }.";
            return sameValue(key, { memberId: 1 });
          },
        },
        {
          name: `split at "${BORDER}", halves on different shards`,
          points: 2,
          message: `There must be two chunks with the border at { memberId: "${BORDER}" }, on different shards.`,
          async test({ cluster }) {
            const chunks = await cluster.chunks(MEMBERS);
            if (chunks.length === 0) return "There are no chunks yet: shard library.members first.";
            if (chunks.length === 1)
              return "There is still one chunk from MinKey to MaxKey: an empty ranged collection starts with one; split it with lab.sh.splitAt.";
            const borders = chunks.slice(1).map((chunk) => chunk.min["memberId"] as unknown);
            if (!borders.includes(BORDER))
              return `The border must be exactly { memberId: "${BORDER}" }; it is ${borders.map((b) => JSON.stringify(b)).join(", ") || "missing"}.`;
            if (new Set(chunks.map((chunk) => chunk.shard)).size === 1)
              return "Both chunks are on one shard: splitting moves nothing; use lab.sh.moveChunk.";
            return chunks.length === 2 && borders[0] === BORDER;
          },
        },
        {
          name: "1,000 members, 500 a shard",
          points: 1,
          message: "Each shard must hold 500 of the 1,000 members.",
          async test({ cluster }) {
            const { shards } = await cluster.distribution(MEMBERS);
            return sameValue(
              shards.map((shard) => shard.documents),
              [500, 500],
            );
          },
        },
        {
          name: "a range of members asks one shard",
          points: 1,
          message: 'find({ memberId: { $gte: "m-0100", $lt: "m-0200" } }) must be SINGLE_SHARD.',
          async test({ cluster }) {
            if (!(await cluster.shardKey(MEMBERS))) return false;
            const range = { memberId: { $gte: "m-0100", $lt: "m-0200" } };
            const [low, whole] = [await cluster.routing(MEMBERS, range), await cluster.routing(MEMBERS, {})];
            if (whole.shards.length < 2)
              return "It does ask one shard, but only because one shard has everything.";
            return low.stage === "SINGLE_SHARD";
          },
        },
      ],
      hints: [
        "Three commands in this order: shard, split, move. lab.sh has them under the names mongosh uses.",
        "sh.splitAt(namespace, border) makes two chunks of one, on the shard they were on. sh.moveChunk(namespace, a key in the chunk, shard) moves one.",
        'After sharding and splitAt(…, { memberId: "m-0500" }), find the owner with (await chunksOf("library.members"))[0]?.shard and move { memberId: "m-0500" } to the shard of lab.info.shards with another id.',
      ],
      rationale:
        "On a ranged key neighbours stay together, so a range of the key needs few shards. The price: the cluster can't know the borders beforehand. An empty ranged collection is one chunk on one shard until you split it, or until the balancer has enough data to move.",
      wrongAnswers: [
        {
          name: "hashed instead of ranged",
          arrange: (cluster) => members(cluster, { memberId: "hashed" }),
          message:
            "A hashed key has no order, so no range of members could live together; use { memberId: 1 }.",
        },
        {
          name: "sharded, not split",
          arrange: (cluster) => members(cluster, { memberId: 1 }),
          message:
            "There is still one chunk from MinKey to MaxKey: an empty ranged collection starts with one; split it with lab.sh.splitAt.",
        },
        {
          name: "split, not moved",
          async arrange(cluster) {
            await members(cluster, { memberId: 1 });
            await cluster.db("admin").command({ split: MEMBERS, middle: { memberId: BORDER } });
          },
          message: "Both chunks are on one shard: splitting moves nothing; use lab.sh.moveChunk.",
        },
        {
          name: "not sharded at all",
          arrange: (cluster) => members(cluster, undefined),
          message: "library.members isn't sharded; use lab.sh.shardCollection.",
        },
        {
          name: "split at another member",
          async arrange(cluster) {
            await members(cluster, { memberId: 1 });
            await moveUpper(cluster, "m-0400");
          },
          message: `The border must be exactly { memberId: "${BORDER}" }; it is "m-0400".`,
        },
      ],
    }),
    quiz({
      id: "q02-7",
      title: "Quiz: hashed or ranged?",
      objective: "Choose between a ranged and a hashed key from the queries",
      misconceptions: ["hashed is always best"],
      rules: "8.0",
      right: "c",
      wrong: {
        a: "Ranges are exactly what a hashed key can't serve: every report would ask all shards.",
        b: "A field with 6 values has 6 hashes: hashing adds no cardinality, and at most 6 chunks can hold data.",
        d: "A hashed key can't be unique (error 72, InvalidOptions, in every version); uniqueness needs a ranged key.",
      },
      hints: [
        "Go through the options with two questions: is the field looked up by equality, and has it many values?",
        "Hashing gives even writes for a growing field, at the price of ranges. It adds no values and enforces nothing.",
        "One option reads by exact value, has millions of values, and they grow steadily.",
      ],
      rationale:
        "An order number that grows steadily and is looked up by its exact value is the ideal case: hashing spreads the inserts, and the one query that matters stays targeted.",
    }),
  ],
});

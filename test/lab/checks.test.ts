import { Int32, Long, ObjectId } from "bson";
import { describe, expect, it } from "vitest";
import { outcomeBundle, unjudged } from "../../lib/lab/check.js";
import { defineLesson, LessonError, question, quiz } from "../../lib/lab/checks/lesson.js";
import type { CheckDefinition, QuestionDefinition } from "../../lib/lab/checks/lesson.js";
import { Practice } from "../../lib/lab/checks/host.js";
import type { CheckOutcome } from "../../lib/lab/checks/host.js";
import { AnswerError, decodeAnswer, encodeAnswer, sameValue } from "../../lib/lab/checks/values.js";

const HINTS = ["a nudge", "the concept", "nearly there"];

/** A question about two numbers, with one check each; `over` changes what a test is about. */
function sums(over: Partial<QuestionDefinition> = {}) {
  const at = (answer: unknown, n: number) => (Array.isArray(answer) ? (answer[n] as unknown) : undefined);
  return question({
    id: "q99-1",
    title: "Two sums",
    objective: "add",
    misconceptions: ["1 + 1 = 11"],
    rules: "8.0",
    checks: [
      {
        name: "1 + 1",
        points: 1,
        message: "The first sum is wrong.",
        test: ({ answer }) => at(answer, 0) === 2,
      },
      {
        name: "2 + 3",
        points: 2,
        message: "The second sum is wrong.",
        test: ({ answer }) => at(answer, 1) === 5,
      },
    ],
    hints: HINTS,
    rationale: "Counting on fingers shows it.",
    wrongAnswers: [
      { name: "joined", answer: [11, 23], message: "You joined the digits." },
      { name: "multiplied", answer: [1, 6], message: "You multiplied." },
      { name: "exchanged", answer: [5, 2], message: "The other way round." },
    ],
    ...over,
  });
}

function practice(...questions: ReturnType<typeof question>[]): Practice {
  const lesson = defineLesson({ lesson: "99", title: "Sums", questions });
  return new Practice(async (number) => (number === "99" ? lesson : undefined));
}

function check(p: Practice, answer: unknown, id = "q99-1"): Promise<CheckOutcome> {
  return p.evaluate({ question: id, answer: encodeAnswer(answer) });
}

const only = (test: CheckDefinition["test"], seconds?: number) =>
  practice(
    sums({
      checks: [{ name: "it", points: 1, message: "Look again.", test }],
      ...(seconds ? { seconds } : {}),
    }),
  );

describe("checking an answer", () => {
  it("gives full points, and only then says why", async () => {
    expect(await check(practice(sums()), [2, 5])).toEqual({
      question: "q99-1",
      title: "Two sums",
      status: "pass",
      results: [
        { name: "1 + 1", passed: true, status: "pass", points: 1, max: 1, message: "" },
        { name: "2 + 3", passed: true, status: "pass", points: 2, max: 2, message: "" },
      ],
      score: 3,
      max: 3,
      attempts: 1,
      rationale: "Counting on fingers shows it.",
      hintsLeft: 3,
      hidden: { checks: 0, points: 0 },
    });
  });

  it("gives partial credit together with the message of what is missing", async () => {
    const outcome = await check(practice(sums()), [2, 6]);
    expect(outcome).toMatchObject({ status: "partial", score: 1, max: 3 });
    expect(outcome.results.map((row) => row.message)).toEqual(["", "The second sum is wrong."]);
    expect(outcome.rationale).toBeUndefined();
    expect(outcome.feedback).toBeUndefined();
  });

  it("tells each expected wrong answer its own message", async () => {
    const p = practice(sums());
    for (const wrong of sums().wrongAnswers) {
      const outcome = await check(p, (wrong as { answer: unknown }).answer);
      expect(outcome.status).not.toBe("pass");
      expect(outcome.feedback).toBe(wrong.message);
    }
  });

  it("lets a test say more precisely what is wrong", async () => {
    const outcome = await check(
      only(() => "Nearly: one off."),
      1,
    );
    expect(outcome.results[0]).toMatchObject({ status: "fail", message: "Nearly: one off." });
  });

  it("counts attempts of each question", async () => {
    const p = practice(sums(), sums({ id: "q99-2" }));
    await check(p, 0);
    await check(p, 0, "q99-2");
    expect((await check(p, [2, 5])).attempts).toBe(2);
  });

  it("needs evidence: only true passes", async () => {
    for (const verdict of [undefined, 1, "", false, {}] as never[]) {
      expect(
        (
          await check(
            only(() => verdict),
            1,
          )
        ).score,
      ).toBe(0);
    }
  });

  it("says when a test throws, and goes on with the next check", async () => {
    const question = sums({
      checks: [
        {
          name: "breaks",
          points: 1,
          message: "Look again.",
          test: () => {
            throw new Error("no such collection");
          },
        },
        { name: "rejects", points: 1, message: "Look there.", test: () => Promise.reject(new Error("gone")) },
        { name: "holds", points: 1, message: "-", test: () => true },
      ],
    });
    expect((await check(practice(question), 1)).results).toMatchObject([
      { status: "error", points: 0, message: "Look again. (The check stopped with: no such collection)" },
      { status: "error", points: 0, message: "Look there. (The check stopped with: gone)" },
      { status: "pass", points: 1 },
    ]);
  });

  it("gives up on a test that never ends, and on one that fails after that", async () => {
    const never = only(() => new Promise<never>(() => undefined), 0.02);
    expect((await check(never, 1)).results[0]).toMatchObject({ status: "timeout", points: 0, passed: false });
    const late = only(() => new Promise((_, fail) => setTimeout(() => fail(new Error("late")), 40)), 0.02);
    expect((await check(late, 1)).results[0]!.message).toBe("Look again. (The check gave up after 0.02 s.)");
    await new Promise((done) => setTimeout(done, 40)); // an unhandled rejection would fail this test file
  });

  it("runs public checks only, and says how many hidden ones are left for grading", async () => {
    let ran = false;
    const hidden: CheckDefinition = {
      name: "secret",
      points: 4,
      visibility: "hidden",
      message: "secret message",
      test: () => (ran = true),
    };
    const outcome = await check(practice(sums({ checks: [...sums().checks, hidden] })), [2, 5]);
    expect(ran).toBe(false);
    expect(outcome).toMatchObject({ status: "pass", score: 3, max: 3, hidden: { checks: 1, points: 4 } });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(outcomeBundle(outcome)["text/plain"]).toContain(
      "Public checks passed; 1 hidden check runs at grading.",
    );
  });

  it("asks for a lab when a question looks at the cluster and none is open", async () => {
    const p = only(async ({ cluster }) => (await cluster.chunks("a.b")).length === 1);
    const outcome = await p.evaluate({ question: "q99-1" });
    expect(outcome.results[0]).toMatchObject({
      status: "error",
      message: "this question looks at your cluster, and no lab is open; run the cell with startLab first",
    });
  });

  it.each([
    ["q99-7", "lesson 99 has no question q99-7; it has q99-1"],
    ["q98-1", "there is no lesson 98 in this copy of Shardlab"],
    ["first", '"first" is no question id; ids look like "q03-2"'],
    ["q../-1", '"q../-1" is no question id; ids look like "q03-2"'],
  ])("names what is wrong with question %s", async (id, message) => {
    await expect(check(practice(sums()), 1, id)).rejects.toThrow(message);
  });

  it("refuses an answer it can't read", async () => {
    const p = practice(sums());
    await expect(p.evaluate({ question: "q99-1", answer: "{" })).rejects.toThrow(
      /^the answer can't be read: /,
    );
  });
});

describe("hints", () => {
  it("come one by one, the last one again", async () => {
    const p = practice(sums());
    const seen = [];
    for (let n = 0; n < 4; n++) seen.push(await p.hint({ question: "q99-1" }));
    expect(seen.map(({ text, number, left }) => [text, number, left])).toEqual([
      ["a nudge", 1, 2],
      ["the concept", 2, 1],
      ["nearly there", 3, 0],
      ["nearly there", 3, 0],
    ]);
    expect((await check(p, 0)).hintsLeft).toBe(0);
  });
});

describe("a quiz question", () => {
  const p = practice(
    quiz({
      id: "q99-1",
      title: "Pick",
      objective: "choose",
      misconceptions: [],
      rules: "8.0",
      right: "b",
      wrong: { a: "Not a.", c: "Not c.", d: "Not d." },
      hints: HINTS,
      rationale: "b it is.",
    }),
  );

  it("passes the right letter, however written", async () => {
    expect((await check(p, " B ")).status).toBe("pass");
  });

  it("tells each other letter why not", async () => {
    for (const letter of ["a", "c", "d"]) expect((await check(p, letter)).feedback).toBe(`Not ${letter}.`);
    expect((await check(p, "C")).results[0]!.message).toBe("Not c.");
  });

  it("knows the placeholder and nonsense", async () => {
    expect((await check(p, "?")).feedback).toBe(
      'Not answered yet: put one of "a", "b", "c", "d" in place of "?".',
    );
    for (const odd of ["e", 2, "toString", "__proto__"]) {
      expect((await check(p, odd)).results[0]!.message).toBe('Choose one of "a", "b", "c", "d".');
    }
  });
});

describe("defining questions", () => {
  it.each([
    [{ id: "3-2" }, 'question 3-2: an id looks like "q03-2"'],
    [
      { hints: HINTS.slice(1) },
      "question q99-1: it has 2 hints; write at least 3 (nudge, concept, nearly there)",
    ],
    [
      { wrongAnswers: sums().wrongAnswers.slice(1) },
      "question q99-1: it has 2 wrong answers; write at least 3",
    ],
    [{ rationale: " " }, "question q99-1: rationale is empty"],
    [{ checks: [] }, "question q99-1: it has no checks"],
    [{ checks: [...sums().checks, ...sums().checks] }, 'question q99-1: two checks are called "1 + 1"'],
    [
      { checks: [{ ...sums().checks[0]!, points: 0.5 }] },
      'question q99-1: check "1 + 1" is worth 0.5; points are whole numbers of 1 or more',
    ],
    [{ checks: [{ ...sums().checks[0]!, message: "" }] }, 'question q99-1: "1 + 1" has no message'],
    [
      { wrongAnswers: sums().wrongAnswers.map((wrong) => ({ ...wrong, message: "No." })) },
      'question q99-1: two wrong answers get the same message: "No."',
    ],
  ])("refuses %o", (over, message) => {
    expect(() => sums(over as Partial<QuestionDefinition>)).toThrow(new LessonError(message));
  });

  it("adds up points and keeps a lesson's ids together", () => {
    expect(sums().points).toBe(3);
    expect(() => defineLesson({ lesson: "98", title: "", questions: [sums()] })).toThrow(
      /id must begin with q98-/,
    );
    expect(() => defineLesson({ lesson: "99", title: "", questions: [sums(), sums()] })).toThrow(
      /two questions have the id/,
    );
    expect(() => defineLesson({ lesson: "9", title: "", questions: [] })).toThrow(/two digits/);
  });
});

describe("answers on their way", () => {
  it("arrive as what they were", () => {
    const id = new ObjectId("000000000000000000000007");
    const sent = {
      n: 51_100,
      f: 0.511,
      big: 2254643809256703712n,
      list: ["a", null, true],
      id,
      at: new Date(0),
      nan: NaN,
    };
    const arrived = decodeAnswer(encodeAnswer(sent)) as typeof sent;
    expect(arrived.big).toBe(2254643809256703712n);
    expect(arrived.n).toBe(51_100);
    expect(arrived.at).toEqual(new Date(0));
    expect(sameValue(arrived, sent)).toBe(true);
  });

  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  class Cat {}
  it.each([
    [undefined, "the answer is undefined; assign it a value before the check"],
    [() => 1, "the answer is a function; call it and give its result"],
    [{ a: [1, () => 1] }, "the answer.a[1] is a function; call it and give its result"],
    [Promise.resolve(1), "the answer is a promise; put await before it"],
    [[{ then: () => 1 }], "the answer[0] is a promise; put await before it"],
    [{ toArray: () => [] }, "the answer is a cursor; use await ….toArray()"],
    [new Set([1]), "the answer is a Set; make it an array: [...set]"],
    [new Map(), "the answer is a Map; make it an object: Object.fromEntries(map)"],
    [new Cat(), "the answer is an object of class Cat; give plain values"],
    [circular, "the answer.self contains itself; give a value without cycles"],
    [Symbol("x"), "the answer is a symbol; give a value"],
    [2n ** 64n, "the answer does not fit a signed 64-bit integer: 18446744073709551616"],
    [
      "x".repeat(1_000_001),
      "the answer is 1000014 characters long, 1000000 are allowed; give the result, not the data",
    ],
  ])("or are refused in a sentence: %#", (answer, message) => {
    expect(() => encodeAnswer(answer)).toThrow(new AnswerError(message));
  });

  it("are refused when nested too deep", () => {
    let deep: unknown = 1;
    for (let n = 0; n < 60; n++) deep = [deep];
    expect(() => encodeAnswer(deep)).toThrow(/nested more than 50 levels deep$/);
  });

  it("are equal by value, not by type or order of fields", () => {
    expect(sameValue(1, 1n) && sameValue(Long.fromNumber(1), 1) && sameValue(new Int32(1), 1n)).toBe(true);
    expect(sameValue({ a: 1, b: [2] }, { b: [2n], a: 1 })).toBe(true);
    expect(sameValue({ a: undefined }, {})).toBe(true);
    expect(sameValue(new Date(1), new Date(1))).toBe(true);
    expect(
      sameValue(new ObjectId("000000000000000000000007"), new ObjectId("000000000000000000000007")),
    ).toBe(true);
    for (const [a, b] of [
      [9007199254740993n, 9007199254740992],
      ["1", 1],
      [
        [1, 2],
        [2, 1],
      ],
      [[1], { 0: 1 }],
      [{ a: 1 }, { a: 1, b: 2 }],
      [null, undefined],
      [null, {}],
      [new Date(1), new Date(2)],
      [1.5, 1n],
      [new Date(1), {}],
    ]) {
      expect(sameValue(a, b), `${String(a)} and ${String(b)}`).toBe(false);
      expect(sameValue(b, a)).toBe(false);
    }
  });
});

describe("what the student sees", () => {
  it("is words and a table, with the next step", async () => {
    const p = practice(sums());
    await check(p, 0);
    const bundle = outcomeBundle(await check(p, [2, 6]));
    expect(bundle["text/plain"]).toBe(
      [
        "PARTLY: q99-1 Two sums, 1 of 3 points (attempt 2)",
        "",
        "result  check  points  message",
        "------  -----  ------  ------------------------",
        "PASS    1 + 1  1/1",
        "FAIL    2 + 3  0/2     The second sum is wrong.",
        "",
        'Hint available: await check.hint("q99-1")',
      ].join("\n"),
    );
    expect(bundle["text/html"]).toContain('<th scope="row" align="left">FAIL</th>');
    expect(bundle["text/html"]).not.toMatch(/<(script|style)|style=|color/);
  });

  it("shows a recognised mistake once and the rationale after passing", async () => {
    const p = practice(sums());
    expect(outcomeBundle(await check(p, [11, 23]))["text/plain"]).toContain("\n\nYou joined the digits.\n\n");
    const passed = outcomeBundle(await check(p, [2, 5]))["text/plain"] as string;
    expect(passed).toMatch(/^PASS: q99-1 Two sums, 3 of 3 points/);
    expect(passed).toContain("Why: Counting on fingers shows it.");
    expect(passed).not.toContain("Hint available");
  });

  it("says why nothing was checked", () => {
    expect(
      outcomeBundle(unjudged("q99-1", new AnswerError("the answer is a promise; put await before it")))[
        "text/plain"
      ],
    ).toBe("NOT CHECKED: q99-1\n\nthe answer is a promise; put await before it");
    expect(unjudged("q99-1", new Error("the host is gone")).feedback).toBe(
      "the check could not run: the host is gone",
    );
  });
});

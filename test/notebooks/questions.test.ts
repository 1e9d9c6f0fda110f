/**
 * Every question of the course: each wrong answer its author expects fails and is told its own
 * message. The right answers are proved by the solved notebooks (lessons.test.ts).
 */
import { fileURLToPath } from "node:url";
import { readdirSync } from "node:fs";
import { judge, LabCluster, loadLesson } from "shardlab/checks";
import type { Lesson, Question, WrongAnswer } from "shardlab/checks";
import { Cluster } from "shardlab/cluster";
import { afterEach, describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../notebooks/source/", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".checks.ts"));
const lessons = await Promise.all(files.map((name) => loadLesson(folder + name)));

let cluster: Cluster | undefined;
let looking: LabCluster | undefined;
afterEach(async () => {
  await looking?.close();
  await cluster?.close();
  looking = cluster = undefined;
});

/** The messages a student gets for this wrong answer, and the points. */
async function told(question: Question, wrong: WrongAnswer): Promise<{ messages: string[]; lost: number }> {
  if ("arrange" in wrong) {
    cluster = await Cluster.start({ shards: 2, seed: 3 });
    looking = new LabCluster(cluster.info);
    await wrong.arrange(looking);
  }
  const context = {
    answer: "answer" in wrong ? wrong.answer : undefined,
    cluster: looking ?? new LabCluster(undefined),
  };
  const { feedback, results, score, max } = await judge(question, context, "all");
  return { messages: [feedback ?? "", ...results.map((row) => row.message)], lost: max - score };
}

describe.each(lessons)("lesson $lesson, $title", ({ lesson, questions }: Lesson) => {
  it("asks at least three questions", () => {
    expect(questions.length).toBeGreaterThanOrEqual(3);
    expect(questions.map((question) => question.id)).toEqual(questions.map((_, n) => `q${lesson}-${n + 1}`));
  });

  describe.each(questions)("$id $title", (question: Question) => {
    it.each(question.wrongAnswers)("tells “$name” what is wrong", async (wrong) => {
      const { messages, lost } = await told(question, wrong);
      expect(lost).toBeGreaterThan(0);
      expect(messages).toContain(wrong.message);
    });
  });
});

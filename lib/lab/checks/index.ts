/**
 * For authors: how the graded questions of a lesson are written (`shardlab/checks`).
 *
 * Start with `lesson.ts`, which shows a whole lesson's file.
 */
export { defineLesson, LessonError, question, quiz } from "./lesson.js";
export type {
  CheckContext,
  CheckDefinition,
  Lesson,
  Question,
  QuestionDefinition,
  QuizDefinition,
  Verdict,
  WrongAnswer,
} from "./lesson.js";
export { LabCluster } from "./cluster.js";
export type { CheckCluster, ChunkRow, Routing } from "./cluster.js";
export { judge } from "./judge.js";
export type { CheckResult, CheckStatus, Judgement } from "./judge.js";
export { AnswerError, decodeAnswer, encodeAnswer, numberOf, sameValue } from "./values.js";
export { CheckError, findLesson, loadLesson, packagedLesson, Practice } from "./host.js";
export type { CheckOutcome, CheckParams, HintOutcome, LessonSource } from "./host.js";

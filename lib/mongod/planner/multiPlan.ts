/**
 * Choosing among plans by trying them.
 *
 * Which index is best depends on the data. MongoDB's classic engine does not
 * estimate, it lets all candidates work side by side for a while:
 *
 *     candidate          results   works   score
 *     IXSCAN device_1    10        10      1 + 10/10 …  + 1 for being finished   ←
 *     IXSCAN even_1      1         10      1 +  1/10 …
 *
 * A trial ends when one of them has 101 results (or the query's limit), is
 * finished, or after 10,000 steps (30 % of the collection, if that is more). The
 * score is 1 + results per step, and one more for a finished plan; small
 * bonuses decide between equals: no FETCH, no SORT, then fewer documents read,
 * then the index whose leading fields are bounded best.
 *
 * The winner goes on where it stands: the results of its trial are given out
 * first. Nothing is remembered for the next query of this shape, so there is no
 * plan cache to be misled by.
 */
import type { Interrupt } from "./interrupt.js";
import type { TriedPlan } from "./planningRecord.js";
import { ADVANCED, EOF, NEED_TIME, PlanStage, type Progress } from "./planStage.js";

const MOST_RESULTS = 101;
const LEAST_WORKS = 10_000;
const PART_OF_COLLECTION = 0.3;
const BONUS = 1e-4;

/** A plan among others. */
export interface Candidate {
  readonly root: PlanStage;
  readonly hasFetch: boolean;
  readonly hasSort: boolean;
  /** How well the index's fields are bounded; greater is better. Compared only between equals. */
  readonly indexRank: number;
}

interface Result {
  readonly document: Uint8Array;
  readonly recordId: number;
  readonly indexKey: Uint8Array | undefined;
}

/** What a trial found. */
export interface Decision {
  readonly winner: PlanStage;
  /** The other plans, best first. */
  readonly rejected: readonly PlanStage[];
  /** All plans, the best first. */
  readonly tried: readonly TriedPlan[];
}

/**
 * Runs the candidates side by side and keeps the best.
 * @param limit how many results the query wants; 0: all
 * @param records number of documents in the collection
 * @param snapshot describes a plan as the trial leaves it; absent where nobody will ask
 */
export function pickBestPlan(
  candidates: readonly Candidate[],
  limit: number,
  records: number,
  interrupt: Interrupt,
  snapshot?: (root: PlanStage) => Record<string, unknown>,
): Decision {
  const results: Result[][] = candidates.map(() => []);
  const enough = limit > 0 ? Math.min(limit, MOST_RESULTS) : MOST_RESULTS;
  const most = Math.max(LEAST_WORKS, Math.floor(PART_OF_COLLECTION * records));
  const finished = candidates.map(() => false);
  for (let round = 0, decided = false; round < most && !decided; round++) {
    for (let i = 0; i < candidates.length; i++) {
      const { root } = candidates[i] as Candidate;
      const progress = root.work();
      if (progress === ADVANCED) {
        const { document, recordId, indexKey } = root;
        const own = results[i] as Result[];
        own.push({ document, recordId, indexKey });
        if (own.length >= enough) decided = true;
      } else if (progress === EOF) {
        finished[i] = true;
        decided = true;
      }
    }
    interrupt.step();
  }
  const order = rank(candidates, finished);
  const [best] = order;
  const tried = order.map(({ at, score }): TriedPlan => {
    const { root } = candidates[at] as Candidate;
    return { root, score, trial: snapshot?.(root) ?? {} };
  });
  const at = best?.at ?? 0;
  const { root } = candidates[at] as Candidate;
  return {
    winner: new MultiPlan(root, results[at] as Result[]),
    rejected: order.slice(1).map((one) => (candidates[one.at] as Candidate).root),
    tried,
  };
}

function rank(
  candidates: readonly Candidate[],
  finished: readonly boolean[],
): readonly { at: number; score: number; tieBreaker: number }[] {
  const scored = candidates.map((candidate, at) => {
    const { works, returned } = candidate.root;
    const bonus = Math.min(1 / (10 * Math.max(1, works)), BONUS);
    const bonuses = (candidate.hasFetch ? 1 : 2) + (candidate.hasSort ? 0 : 1);
    const score = 1 + returned / Math.max(1, works) + bonuses * bonus + (finished[at] ? 1 : 0);
    return { at, score, tieBreaker: 0 };
  });
  const best = Math.max(...scored.map(({ score }) => score));
  const tied = scored.filter(({ score }) => score === best);
  if (tied.length > 1) {
    const examined = (at: number): number => docsExamined((candidates[at] as Candidate).root);
    const rankOf = (at: number): number => (candidates[at] as Candidate).indexRank;
    const fewest = Math.min(...tied.map(({ at }) => examined(at)));
    const highest = Math.max(...tied.map(({ at }) => rankOf(at)));
    for (const one of tied) {
      if (examined(one.at) === fewest) one.tieBreaker += 1;
      if (rankOf(one.at) === highest) one.tieBreaker += 2;
    }
  }
  return scored.sort((a, b) => b.score - a.score || b.tieBreaker - a.tieBreaker);
}

function docsExamined(stage: PlanStage): number {
  return stage.inputs.reduce((sum, input) => sum + docsExamined(input), stage.docsExamined);
}

/** The winner of a trial: first its results of then, then what is left. Explain looks through it. */
export class MultiPlan extends PlanStage {
  private at = 0;

  constructor(
    override readonly input: PlanStage,
    private results: readonly Result[],
  ) {
    super("MULTI_PLAN", input);
  }

  override get done(): boolean {
    return this.at >= this.results.length && (super.done || this.input.done);
  }

  protected step(): Progress {
    const result = this.results[this.at];
    if (result) {
      this.at++;
      if (this.at === this.results.length) {
        this.at = 0;
        this.results = [];
      }
      this.document = result.document;
      this.recordId = result.recordId;
      this.indexKey = result.indexKey;
      return ADVANCED;
    }
    const progress = this.input.work();
    return progress === ADVANCED ? this.take(this.input) : progress === EOF ? EOF : NEED_TIME;
  }
}

/** The plan inside of a {@link MultiPlan}; any other stage is its own. */
export function chosenPlan(root: PlanStage): PlanStage {
  return root instanceof MultiPlan ? root.input : root;
}

/**
 * The lab host: a program that owns clusters and answers what lessons ask.
 *
 * It is forked by the process that runs a notebook (`forkHost`), and ends with
 * it. The student's code reaches a cluster here by its port only, and the checks
 * of a lesson are judged here, where that code cannot touch them.
 */
import { HostLabs, serveChannel } from "../../cluster/index.js";
import type * as Checks from "../checks/host.js";

const labs = new HostLabs();

/** Checks bring the driver and a lesson's questions: loaded when the first answer comes, not at boot. */
const checks = (): Promise<typeof Checks> => import("../checks/host.js");

serveChannel(
  {
    ...labs.methods,
    check: async (params: Checks.CheckParams & { lab?: string }) =>
      (await checks()).evaluate(params, labs.info(params.lab)),
    hint: async (params: { question: string }) => (await checks()).hint(params),
  },
  () => labs.closeAll(),
);

/** `shardlab build`: lesson sources → notebooks. */
import path from "node:path";
import { parseArgs } from "node:util";
import { CliError, ExitCode } from "./command.js";
import type { Command } from "./command.js";

export const command: Command = {
  name: "build",
  summary: "build notebooks from their sources",
  usage: `usage: shardlab build [LESSON…] [--solved DIR] [--check] [--notebooks DIR]

Turns notebooks/source/NN-topic.md and its compiled checks into notebooks/NN-topic.ipynb.

LESSON            number (03), name (03-hotspots) or path; all lessons when left out
--solved DIR      write the notebooks with their solutions to DIR instead
--check           write nothing; exit 1 when a notebook differs from its source
--notebooks DIR   the folder that holds source/ (default: notebooks)

exit codes: 0 done; 1 a source has a fault or a notebook differs; 2 wrong usage
`,
  async run(args) {
    const { values, positionals } = readArguments(args);
    if (values.check && values.solved !== undefined) {
      throw new CliError("--check writes nothing and --solved does; give one of them");
    }
    const authoring = await import("../authoring/index.js");
    const folder = values.notebooks;
    const lessons = await authoring.findLessons(folder, positionals).catch((error: unknown) => {
      if (error instanceof RangeError) throw new CliError(error.message);
      throw new CliError(
        `no lesson sources in ${path.join(folder, "source")}; go to the course's folder or give --notebooks`,
      );
    });
    if (lessons.length === 0) {
      throw new CliError(`no lesson sources in ${path.join(folder, "source")}; files are called NN-topic.md`);
    }
    let faults = 0;
    for (const lesson of lessons) {
      try {
        if (values.check) {
          const drift = await authoring.findDrift(lesson);
          if (drift) {
            faults++;
            process.stderr.write(`${lesson.notebook} ${drift.difference}; run shardlab build\n`);
          } else {
            process.stdout.write(`${lesson.notebook} is up to date\n`);
          }
          continue;
        }
        const [form, target] =
          values.solved === undefined
            ? (["student", lesson.notebook] as const)
            : (["solved", path.join(values.solved, `${lesson.name}.ipynb`)] as const);
        await write(authoring.writeIfChanged, target, await authoring.buildNotebook(lesson, form));
      } catch (error) {
        const known = error instanceof authoring.AuthoringError || (error as Error).name === "LessonError";
        if (!known) throw error;
        faults++;
        process.stderr.write(`${(error as Error).message}\n`);
      }
    }
    return faults === 0 ? ExitCode.ok : ExitCode.failed;
  },
};

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        solved: { type: "string" },
        check: { type: "boolean", default: false },
        notebooks: { type: "string", default: "notebooks" },
      },
    });
  } catch (error) {
    throw new CliError(`${(error as Error).message.split("\n")[0] ?? ""}; see shardlab build --help`);
  }
}

async function write(
  writeIfChanged: (file: string, content: string) => Promise<boolean>,
  file: string,
  content: string,
): Promise<void> {
  let changed: boolean;
  try {
    changed = await writeIfChanged(file, content);
  } catch (error) {
    throw new CliError(
      `can't write ${file}: ${(error as Error).message}; check space and permission`,
      ExitCode.failed,
    );
  }
  process.stdout.write(`${file} ${changed ? "written" : "unchanged"}\n`);
}

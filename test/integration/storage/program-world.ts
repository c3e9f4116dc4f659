/** A directory with programs that are called like etcd (test/fixtures/etcd-program.ts), and the processes they become. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../../e2e/harness/belongings.ts';
import type { EtcdBehaviour, EtcdRun } from '../../fixtures/etcd-program.ts';

export class ProgramWorld implements AsyncDisposable {
  readonly directory = makeDirectory('minik8s-store-');
  readonly dataDir = join(this.directory, 'etcd-dir');
  readonly #programs = new Set<string>();

  /** An executable that behaves so; to be said again at any time. */
  program(name: string, behaviour: EtcdBehaviour = { version: '3.7.0' }): string {
    const file = join(this.directory, name);
    const source = join(import.meta.dirname, '../../fixtures/etcd-program.ts');
    const text = `#!${process.execPath}\nimport(${JSON.stringify(source)}).then(({ runProgram }) => runProgram(__filename));\n`;
    if (!existsSync(file)) writeFileSync(file, text, { mode: 0o700 });
    writeFileSync(`${file}.json`, JSON.stringify(behaviour));
    appendFileSync(`${file}.runs`, '');
    this.#programs.add(file);
    return file;
  }

  /** What a program of this name was called with, and heard, so far. */
  runs(name: string): readonly EtcdRun[] {
    const lines = readFileSync(join(this.directory, `${name}.runs`), 'utf8').split('\n');
    return lines.filter(Boolean).map((line) => JSON.parse(line) as EtcdRun);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pids = [...this.#programs].flatMap((file) => this.runs(file.slice(this.directory.length + 1)));
    for (const { pid } of pids)
      if (isRunning(pid) && runsIn(pid, this.directory)) process.kill(pid, 'SIGKILL');
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Not one that has ended and is not waited for. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const runsIn = (pid: number, directory: string) =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory);

/** Waits for the world: processes and files say nothing when they come. Rejects when they do not come at all. */
export async function until(condition: () => unknown): Promise<void> {
  const late = AbortSignal.timeout(15_000);
  while (!(await condition())) {
    late.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

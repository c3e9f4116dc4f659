/** A directory with programs in place of etcd (test/fixtures/etcd-program.ts), and their processes. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../../e2e/harness/belongings.ts';
import type { EtcdBehaviour, EtcdRun } from '../../fixtures/etcd-program.ts';

export class ProgramWorld implements AsyncDisposable {
  readonly directory = makeDirectory('minik8s-store-');
  readonly dataDir = join(this.directory, 'etcd-dir');
  readonly #programs = new Set<string>();

  /** Writes an executable with this behaviour; may be called again to change it. */
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

  /** Returns the runs of the program with this name so far: arguments and received signals. */
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

/** Returns whether the process runs; false for a process that has ended and is not reaped. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const runsIn = (pid: number, directory: string) =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory);

/** Reads a log from the journal of systemd, through journalctl(1). */
import { spawn } from 'node:child_process';
import { errorMessage } from '../../base/log.ts';
import type { Batch, SourceOptions } from './file-source.ts';
import { Lines } from './lines.ts';

const cursorHead = '-- cursor: ';

/** Yields the lines of a unit. Throws an Error of one line if journalctl cannot be run. */
export async function* readJournal(unit: string, options: SourceOptions): AsyncGenerator<Batch> {
  const { selection, follows } = options;
  const all = ['--quiet', '--no-pager', '--output=cat', `--unit=${unit}`];
  const since = selection.since === undefined ? [] : [`--since=@${Math.floor(selection.since / 1000)}`];
  let cursor: string | undefined;
  for await (const lines of journalctl([...all, ...since, '--show-cursor'], options)) {
    const last = lines.findLast((line) => line.startsWith(cursorHead));
    if (last !== undefined) cursor = last.slice(cursorHead.length);
    yield { lines: lines.filter((line) => !line.startsWith(cursorHead)), isCaughtUp: false };
  }
  yield { lines: [], isCaughtUp: true };
  if (!follows) return;
  const after = cursor === undefined ? ['--lines=0'] : ['--no-tail', `--after-cursor=${cursor}`];
  for await (const lines of journalctl([...all, '--follow', ...after], options))
    yield { lines, isCaughtUp: true };
}

async function* journalctl(
  args: readonly string[],
  { signal }: SourceOptions,
): AsyncGenerator<readonly string[]> {
  const child = spawn('journalctl', args, { stdio: ['ignore', 'pipe', 'pipe'], signal });
  let problem = '';
  child.stderr.on('data', (chunk: Buffer) => {
    problem = `${problem}${chunk}`.slice(-1000);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  // A program that cannot be started has no output either.
  ended.catch(() => undefined);
  try {
    const lines = new Lines();
    for await (const chunk of child.stdout as AsyncIterable<Uint8Array>) yield lines.add(chunk);
    yield lines.end();
    const code = await ended;
    if (code !== 0) throw new Error(problem.trim().split('\n', 1)[0] || `it ended with ${code}`);
  } catch (error) {
    if (!signal.aborted)
      throw new Error(`the log is in the journal, and journalctl cannot read it: ${errorMessage(error)}`);
  } finally {
    child.kill();
  }
}

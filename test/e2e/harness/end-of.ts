/** Runs a command that is expected to end by itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface End {
  /** The exit status; undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves when the command has ended. Kills it and rejects if it does not end in time. */
export async function endOf(
  [file, args]: readonly [string, readonly string[]],
  limitMs = 60_000,
): Promise<End> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  clearTimeout(limit);
  if (child.killed) throw new Error(`${file} ${args.join(' ')} did not end: ${stderr}`);
  return { code: child.exitCode ?? undefined, stdout, stderr };
}

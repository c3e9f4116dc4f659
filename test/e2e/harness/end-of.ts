/** A command that is expected to end by itself, and how it did. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface End {
  /** The exit status; undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Kills it, and rejects, when it has not ended after 30 s. */
export async function endOf([file, args]: readonly [string, readonly string[]]): Promise<End> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' });
  const limit = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  clearTimeout(limit);
  if (child.killed) throw new Error(`${file} ${args.join(' ')} did not end: ${stderr}`);
  return { code: child.exitCode ?? undefined, stdout, stderr };
}

/** Runs a client once and measures it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Times in milliseconds. */
export interface Times {
  /** Time from the start of the program until it has ended and its output has been read. */
  readonly elapsed: number;
  /** Processor time of all of its threads, in the program and in the kernel. */
  readonly processor: number;
}

/** Prints the processor times of the program in seconds, as the last line of standard error. */
const timed = 'TIMEFORMAT="%3U %3S"; time "$0" "$@"';

/** Rejects if the program ends with another status than 0. */
export async function timesOf(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Times> {
  const start = performance.now();
  const child = spawn('bash', ['-c', timed, program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.resume();
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [status] = await once(child, 'close');
  const elapsed = performance.now() - start;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(status)}: ${said}`);
  const [user = Number.NaN, system = Number.NaN] = (said.trimEnd().split('\n').at(-1) ?? '')
    .split(' ')
    .map(Number);
  if (Number.isNaN(user + system)) throw new Error(`bash did not print the times of ${program}: ${said}`);
  return { elapsed, processor: (user + system) * 1000 };
}

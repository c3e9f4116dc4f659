/** Runs a program in a container; its exit status is the result. */
import { Writable } from 'node:stream';
import { aborted } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/log.ts';
import { goDuration } from '../../../base/time.ts';
import { RuntimeError } from '../../../docker/runtime-error.ts';
import type { ContainerRuntime } from '../../runtime/runtime.ts';
import { failure, maxOutputBytes, type Outcome, success, unknown } from '../plan/outcome.ts';
import { limited, TimeOver } from './time-limit.ts';

export interface ExecContext {
  readonly runtime: Pick<ContainerRuntime, 'exec'>;
  readonly clock: Clock;
}

/**
 * Runs the program; its output is the outcome's output. At the timeout, or when the signal aborts, the
 * program and the processes that it started are killed, and the outcome's `rest` resolves when they are.
 * `timeoutMs` undefined means no timeout. Never rejects.
 */
export function execHandler(
  { runtime, clock }: ExecContext,
  containerId: string,
  command: readonly string[],
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  return limited(clock, timeoutMs, signal, async (ending) => {
    const [stdout, stderr] = [new Head(), new Head()];
    const streams = { stdin: undefined, stdout, stderr, sizes: noSizes() };
    let problem: string | undefined;
    const config = { command, tty: false, killOnAbort: true };
    const ended = runtime.exec(containerId, config, streams, ending).then(
      (status): Outcome => {
        const output = Buffer.concat([stdout.read(), stderr.read()])
          .subarray(0, maxOutputBytes)
          .toString('utf8');
        return { ...(status === 0 ? success(output) : failure(output)), exitCode: status };
      },
      (error): Outcome => {
        // An error other than the signal's own reason means that the program could not be ended.
        if (error !== ending.reason) problem = errorMessage(error);
        const isLost = error instanceof RuntimeError && error.reason === 'Unavailable';
        return { ...unknown(errorMessage(error)), ...(isLost && { isLost }) };
      },
    );
    const outcome = await Promise.race([ended, aborted(ending)]);
    if (outcome && !ending.aborted) return outcome;
    const rest = ended.then(() => problem);
    if (!(ending.reason instanceof TimeOver)) return { ...unknown('the program was stopped'), rest };
    const took = goDuration(timeoutMs ?? 0);
    const text = `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${took}`;
    return { ...failure(text), rest };
  });
}

async function* noSizes(): AsyncGenerator<never> {}

/** Keeps the first bytes that are written, and accepts all of them. */
class Head extends Writable {
  readonly #chunks: Buffer[] = [];
  #left = maxOutputBytes;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#left > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, this.#left)));
    this.#left = Math.max(0, this.#left - chunk.length);
    done();
  }

  read(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

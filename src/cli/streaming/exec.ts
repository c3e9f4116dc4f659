/** Running programs in a container, for `exec` and `cp`. */
import { finished } from 'node:stream/promises';
import { errorMessage } from '../../base/log.ts';
import { query } from '../../client/resource-path.ts';
import { ExitError } from '../errors.ts';
import type { Stdio } from '../io.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import type { VerbContext } from '../verb.ts';
import { type Input, runProgram, streamsQuery } from './run-command.ts';
import { HeldOutput, startFailure } from './start-failure.ts';

export interface ExecRequest {
  readonly container: string;
  readonly command: readonly string[];
  readonly input: Input;
}

/**
 * Resolves to the program's exit code. Rejects like `runProgram`, and with ExitError if the program could not
 * be started: the exit status is then the engine's, as in kubectl.
 */
export async function runExec(
  context: VerbContext,
  pod: ObjectTarget,
  request: ExecRequest,
  stdio: Stdio,
): Promise<number> {
  const { container, command, input } = request;
  const words = command.map((word) => `&command=${encodeURIComponent(word)}`).join('');
  const path = `${targetPath(pod, 'exec')}${query({ container, ...streamsQuery(input) })}${words}`;
  const stdout = new HeldOutput(stdio.stdout);
  const why = (message: string) => startFailure(message, { pod: pod.name, container });
  const passedOn = () => finished(stdout.end());
  const code = await runProgram(context, path, { ...stdio, stdout }, input).catch(async (error) => {
    // A broken stream has no more output; otherwise, earlier output is written before the error.
    await passedOn().catch(() => undefined);
    // Container engines other than Docker report the failure as an error of the request.
    const failure = why(errorMessage(error));
    throw failure === undefined ? error : new ExitError(failure, 1);
  });
  await passedOn();
  const failure = code === 126 || code === 127 ? why(stdout.held) : undefined;
  if (failure !== undefined) throw new ExitError(failure, code);
  // The output was written by the program, although it looks like the engine's.
  stdio.stdout.write(stdout.held, 'latin1');
  return code;
}

/** Programs run in a container: what `exec` and `cp` have in common. */
import { finished } from 'node:stream/promises';
import { errorMessage } from '../../base/log.ts';
import { query } from '../../client/resource-path.ts';
import { ExitError } from '../errors.ts';
import type { Stdio } from '../io.ts';
import { type ObjectTarget, targetPath } from '../targets.ts';
import type { VerbContext } from '../verb.ts';
import { type Input, runProgram, streamsQuery } from './run-command.ts';
import { HeldOutput, startFailure } from './start-failure.ts';

export interface ExecRequest {
  readonly container: string;
  readonly command: readonly string[];
  readonly input: Input;
}

/**
 * Resolves with the program's exit code. Rejects as `runProgram` does, and with ExitError when the program could not be
 * started: kubectl ends with the status that the engine gives, and so does this.
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
  const why = (said: string) => startFailure(said, { pod: pod.name, container });
  const passedOn = () => finished(stdout.end());
  const code = await runProgram(context, path, { ...stdio, stdout }, input).catch(async (error) => {
    // A stream that broke has nothing more to pass on; else what came before is there before the error is.
    await passedOn().catch(() => undefined);
    // Other engines say it as the failure of the request.
    const failure = why(errorMessage(error));
    throw failure === undefined ? error : new ExitError(failure, 1);
  });
  await passedOn();
  const failure = code === 126 || code === 127 ? why(stdout.held) : undefined;
  if (failure !== undefined) throw new ExitError(failure, code);
  // The output of a program that looks like the engine's.
  stdio.stdout.write(stdout.held, 'latin1');
  return code;
}

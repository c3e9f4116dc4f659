/** Attaching to a running program, for `attach`, `run` and `debug`. */
import { errorMessage } from '../../base/log.ts';
import { query } from '../../client/resource-path.ts';
import type { Stdio } from '../io.ts';
import { targetPath } from '../objects/object-target.ts';
import { textAt, valueAt } from '../objects/objects.ts';
import { containersOf, type Pod } from '../objects/pods.ts';
import { printBody } from '../print-body.ts';
import type { VerbContext } from '../verb.ts';
import { DetachFilter, detachBytes, usualDetachKeys } from './detach-keys.ts';
import { type Input, inputOf, runProgram, streamsQuery, withStreams } from './run-command.ts';

/**
 * Attaches until the program or the connection ends, or the keys for detaching are typed; -i, -t and -q are
 * applied. Resolves to true if the keys were typed: the program then runs on.
 */
export async function attachTo(context: VerbContext, pod: Pod, name: string): Promise<boolean> {
  const { flags, io } = context;
  const [ephemeral, ...others] = (['ephemeralContainers', 'containers', 'initContainers'] as const).map(
    (list) => containersOf(pod.object, list).find((each) => each.name === name),
  );
  const container = ephemeral ?? others.find((each) => each !== undefined);
  if (!container)
    throw new Error(`cannot attach to the container: container ${name} not found in pod ${pod.target.name}`);
  // A program with a terminal is always attached to as a terminal, with or without -t.
  const hasTerminal = valueAt(container, 'tty') === true;
  const say = (text: string) => void (flags.on('quiet') || io.err(text));
  if (flags.on('tty') && !hasTerminal)
    say(`error: Unable to use a TTY - container ${name} did not allocate one\n`);
  const input = inputOf(context, hasTerminal);
  const keys = detachBytes(flags.text('detach-keys') || usualDetachKeys);
  const filter = input.terminal === undefined ? undefined : new DetachFilter(keys);
  say("If you don't see a command prompt, try pressing enter.\n");
  const path = targetPath(pod.target, 'attach') + query({ container: name, ...streamsQuery(input) });
  await withStreams(io, input, (stdio) => runAttached(context, path, stdio, input, filter));
  const isDetached = filter?.isDetached ?? false;
  const runsOn = isDetached || textAt(pod.object, 'spec', 'restartPolicy') === 'Always';
  if (!input.terminal || !runsOn) return isDetached;
  say(resumption(pod, name, ephemeral !== undefined));
  return isDetached;
}

/** Returns how to attach again to a program that runs on. */
function resumption({ target }: Pod, name: string, isEphemeral: boolean): string {
  const command = `'ctl attach ${target.name} -c ${name} -i -t'`;
  return isEphemeral
    ? `Session ended, the ephemeral container will not be restarted but may be reattached using ${command} if it is still running\n`
    : `Session ended, resume using ${command} command when the pod is running\n`;
}

/** Like runProgram; with a filter, ends with code 0 when its keys are typed. */
async function runAttached(
  context: VerbContext,
  path: string,
  stdio: Stdio,
  input: Input,
  filter: DetachFilter | undefined,
): Promise<number> {
  if (!filter) return runProgram(context, path, stdio, { ...input, redraw: true });
  const { stdin } = stdio;
  stdin.pipe(filter);
  try {
    const { detached } = filter;
    return await runProgram(context, path, { ...stdio, stdin: filter }, { ...input, redraw: true, detached });
  } finally {
    stdin.unpipe(filter);
    stdin.pause();
  }
}

/** Attaches like `attachTo`; if this fails, such as after the end of the program, prints its log instead. */
export async function attachOrLog(context: VerbContext, pod: Pod, container: string): Promise<boolean> {
  const { io } = context;
  try {
    return await attachTo(context, pod, container);
  } catch (error) {
    if (io.signal.aborted) throw error;
    const why = errorMessage(error);
    io.err(`warning: couldn't attach to pod/${pod.target.name}, falling back to streaming logs: ${why}\n`);
    await printContainerLog(context, pod, container);
    return false;
  }
}

export async function printContainerLog(
  { io, cluster }: VerbContext,
  { target }: Pick<Pod, 'target'>,
  container: string,
): Promise<void> {
  const path = targetPath(target, 'log') + query({ container });
  const { body } = await cluster().open({ method: 'GET', path, headers: { accept: '*/*' } });
  await printBody(io, body);
}

/** Attaching to a running program, for `attach` and `run`. */
import { query } from '../../client/resource-path.ts';
import { targetPath } from '../objects/object-target.ts';
import { textAt, valueAt } from '../objects/objects.ts';
import { containersOf, type Pod } from '../objects/pods.ts';
import type { VerbContext } from '../verb.ts';
import { inputOf, runProgram, streamsQuery, withStreams } from './run-command.ts';

/** Attaches until the program or the connection ends; -i, -t and -q are applied. */
export async function attachTo(context: VerbContext, pod: Pod, name: string): Promise<void> {
  const { flags, io } = context;
  const all = [...containersOf(pod.object), ...containersOf(pod.object, 'initContainers')];
  const container = all.find((each) => each.name === name);
  if (!container)
    throw new Error(`cannot attach to the container: container ${name} not found in pod ${pod.target.name}`);
  // A program with a terminal is always attached to as a terminal, with or without -t.
  const hasTerminal = valueAt(container, 'tty') === true;
  const say = (text: string) => void (flags.on('quiet') || io.err(text));
  if (flags.on('tty') && !hasTerminal)
    say(`error: Unable to use a TTY - container ${name} did not allocate one\n`);
  const input = inputOf(context, hasTerminal);
  say("If you don't see a command prompt, try pressing enter.\n");
  const path = targetPath(pod.target, 'attach') + query({ container: name, ...streamsQuery(input) });
  await withStreams(io, input, (stdio) => runProgram(context, path, stdio, { ...input, redraw: true }));
  if (input.terminal && textAt(pod.object, 'spec', 'restartPolicy') === 'Always')
    say(
      `Session ended, resume using 'ctl attach ${pod.target.name} -c ${name} -i -t' command when the pod is running\n`,
    );
}

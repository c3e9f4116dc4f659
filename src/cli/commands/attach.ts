/** `ctl attach`: joins a container's first process. */
import { UsageError } from '../../base/usage-error.ts';
import { query } from '../../client/resource-path.ts';
import { textAt, valueAt } from '../objects.ts';
import { chooseContainer, containersOf, findPod, programFlags } from '../pods.ts';
import { inputOf, runProgram, streamsQuery, withStreams } from '../streaming/run-command.ts';
import { targetPath } from '../targets.ts';
import type { Verb } from '../verb.ts';

export const attach: Verb = {
  about: 'join the program that runs in a container',
  words: 'POD',
  flags: programFlags,
  async run(context) {
    const { flags, io } = context;
    const words = flags.words.length === 2 ? [flags.words.join('/')] : flags.words;
    if (words.length !== 1)
      throw new UsageError('ctl attach: say which pod: attach POD, attach TYPE/NAME or attach TYPE NAME');
    const pod = await findPod(context, words[0]);
    const name = chooseContainer(context, pod, 'attach');
    const all = [...containersOf(pod.object), ...containersOf(pod.object, 'initContainers')];
    const container = all.find((each) => each.name === name);
    if (!container)
      throw new Error(
        `cannot attach to the container: container ${name} not found in pod ${pod.target.name}`,
      );
    // A program that has a terminal is joined as one, whether that was asked for or not.
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
  },
};

/** `ctl exec`: runs a program in a container, connected to this terminal. */
import { UsageError } from '../../base/usage-error.ts';
import { type Flags, type FlagTable, fileFlags } from '../flags/flags.ts';
import { chooseContainer, findPod, programFlags } from '../objects/pods.ts';
import { runExec } from '../streaming/exec.ts';
import { inputOf, withStreams } from '../streaming/run-command.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  ...programFlags,
  filename: fileFlags.filename,
} as const satisfies FlagTable;

export const exec: Verb = {
  about: 'run a command in a container',
  group: 'Troubleshooting and Debugging Commands',
  words: ['POD [-c CONTAINER] -- COMMAND [ARG...]', 'TYPE/NAME [-c CONTAINER] -- COMMAND [ARG...]'],
  flags: flagTable,
  examples: [
    'ctl exec web -- date # run a command in the first container',
    'ctl exec -it web -- sh # open a shell',
    'ctl exec deployment/web -c nginx -- nginx -T # run it in a container of a pod of a Deployment',
  ],
  async run(context) {
    const { flags, io } = context;
    const { pod: word, command } = checkedWords(flags);
    const pod = await findPod(context, word);
    const container = chooseContainer(context, pod, 'exec into');
    const input = inputOf(context, flags.on('tty'));
    await withStreams(io, input, (stdio) =>
      runExec(context, pod.target, { container, command, input }, stdio),
    );
  },
};

/** Returns the pod and the command. Throws UsageError if one is missing or a word is too many. */
function checkedWords(flags: Flags): {
  readonly pod: string | undefined;
  readonly command: readonly string[];
} {
  const command = flags.behindDashes ?? [];
  const words = flags.words.slice(0, flags.words.length - command.length);
  const byFile = flags.given('filename');
  const isTooMany = words.length > (byFile ? 0 : 1);
  if (words.length === 0 && !byFile)
    throw new UsageError('ctl exec: pod, type/name or --filename must be specified');
  if (isTooMany && flags.behindDashes === undefined)
    throw new UsageError(
      'ctl exec: exec [POD] [COMMAND] is not supported. Use exec [POD] -- [COMMAND] instead',
    );
  if (isTooMany)
    throw new UsageError(`ctl exec: name one pod; ${JSON.stringify(words.at(-1))} is one word too many`);
  if (command.length === 0)
    throw new UsageError('ctl exec: you must specify at least one command for the container');
  return { pod: words[0], command };
}

/** `ctl attach`: connects to the standard streams of a container's first process. */
import { UsageError } from '../../base/usage-error.ts';
import { chooseContainer, detachFlag, findPod, programFlags } from '../objects/pods.ts';
import { attachTo } from '../streaming/attach.ts';
import type { Verb } from '../verb.ts';

export const attach: Verb = {
  about: 'connect the terminal to the running program of a container',
  group: 'Troubleshooting and Debugging Commands',
  words: ['POD [-c CONTAINER]', 'TYPE/NAME [-c CONTAINER]'],
  flags: { ...programFlags, ...detachFlag },
  examples: [
    'ctl attach web # print what the program writes from now on',
    'ctl attach -it web -c shell # also send it what is typed',
  ],
  async run(context) {
    const { flags } = context;
    const words = flags.words.length === 2 ? [flags.words.join('/')] : flags.words;
    if (words.length !== 1)
      throw new UsageError('ctl attach: say which pod: attach POD, attach TYPE/NAME or attach TYPE NAME');
    const pod = await findPod(context, words[0]);
    await attachTo(context, pod, chooseContainer(context, pod, 'attach'));
  },
};

/** `ctl completion SHELL`: prints the completion script of a shell, as `kubectl completion` does. */
import { UsageError } from '../../base/usage-error.ts';
import { completionScript, shells } from '../completion/scripts.ts';
import type { Verb } from '../verb.ts';

export const completion: Verb = {
  about: `print the completion script of a shell: ${shells.join(', ')}`,
  group: 'Settings Commands',
  words: 'SHELL',
  examples: [
    'source <(minik8s ctl completion bash) # complete words in this shell',
    'ctl completion zsh > ~/.minik8s-completion # write a script for the start file of the shell',
  ],
  async run({ io, flags }) {
    const [word, ...more] = flags.words;
    const shell = shells.find((name) => name === word);
    if (!shell || more.length > 0)
      throw new UsageError(
        `expected one SHELL, ${shells.join(', ')}; got ${JSON.stringify(flags.words.join(' '))}`,
      );
    io.out(completionScript(shell, io.calledAs));
  },
};

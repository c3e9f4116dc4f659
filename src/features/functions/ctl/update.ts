/** `ctl update function NAME`: replaces the program of a function. */
import { UsageError } from '../../../base/usage-error.ts';
import type { Verb } from '../../../cli/verb.ts';
import { updateFlags, updateFunction } from './function.ts';

export const update: Verb = {
  about: 'replace the program or settings of a function while calls go on',
  group: 'Functions, Workflows and Slurm',
  words: 'function NAME',
  flags: updateFlags,
  examples: ['ctl update function hello --from ./hello # replace its program'],
  async run(context) {
    const [kind, name, ...more] = context.flags.words;
    if (kind === undefined || !/^functions?$/i.test(kind) || name === undefined || more.length > 0)
      throw new UsageError(
        'ctl update: updates only functions: function NAME; for other kinds: minik8s ctl apply, edit or set',
      );
    await updateFunction(context, name);
  },
};

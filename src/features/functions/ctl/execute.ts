/** `ctl execute NAMESPACE/NAME JSON`: calls a function. */
import { UsageError } from '../../../base/usage-error.ts';
import { callBody } from '../../../cli/call-body.ts';
import type { Verb } from '../../../cli/verb.ts';
import { functionTarget, printCall } from './call.ts';

export const execute: Verb = {
  about: 'call a function and print its response',
  group: 'Functions, Workflows and Slurm',
  words: '[NAMESPACE/]NAME [JSON | @FILE]',
  examples: [`ctl execute default/hello '{"name":"Ann"}' # call a function with an argument`],
  async run(context) {
    const [word, text, ...more] = context.flags.words;
    if (word === undefined || more.length > 0)
      throw new UsageError(
        'ctl execute: say which function, and at most one argument: NAMESPACE/NAME [JSON]',
      );
    await printCall(context, await functionTarget(context, word), await callBody(context, text));
  },
};

/** The argument of a call of a function, a workflow or a trigger. */

import { UsageError } from '../base/usage-error.ts';
import { readBounded } from '../os/bounded-file.ts';
import type { VerbContext } from './verb.ts';

/**
 * Resolves to the text itself, to the text of a file for `@FILE`, to standard input for `@-`, or to `{}`
 * without an argument. Rejects with UsageError if the text is not JSON.
 */
export async function callBody({ io }: VerbContext, word: string | undefined): Promise<string> {
  if (word === undefined) return '{}';
  const text =
    word === '@-'
      ? await io.readStdin()
      : word.startsWith('@')
        ? (await readBounded(word.slice(1), { signal: io.signal })).toString('utf8')
        : word;
  try {
    JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `the argument of a call must be JSON, such as '{"name": "you"}': ${(error as Error).message}`,
    );
  }
  return text;
}

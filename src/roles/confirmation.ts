/** A question to the user at the terminal before something is changed. */
import { createInterface } from 'node:readline/promises';
import { UsageError } from '../base/usage-error.ts';

/**
 * Resolves to true if the user answers yes. Rejects with UsageError and the text of `otherwise` if standard
 * input is no terminal.
 */
export async function confirmed(question: string, otherwise: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(otherwise);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

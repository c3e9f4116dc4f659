/** Network namespaces of a test's own. */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { keep } from './belongings.ts';

export interface Namespace {
  readonly name: string;
  /** Nobody else on this machine has it with this prefix: addresses and links are made of it. */
  readonly number: number;
}

/** Makes one, `PREFIX` and a number below the limit: that it could be made means that the number was free. */
export function claimNamespace(prefix: string, limit: number): Namespace {
  for (;;) {
    const number = randomInt(0, limit);
    const name = `${prefix}${number}`;
    try {
      execFileSync('ip', ['netns', 'add', name], { stdio: ['ignore', 'ignore', 'pipe'] });
    } catch (error) {
      if (!String(error).includes('File exists')) throw error;
      continue;
    }
    keep({ kind: 'namespace', name });
    return { name, number };
  }
}

/** Network namespaces for a test. */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { keep } from './belongings.ts';

export interface Namespace {
  readonly name: string;
  /** Number that is unique on this machine for the prefix: addresses and links are derived from it. */
  readonly number: number;
}

/**
 * Creates a namespace with a name of `prefix` and a free number below the limit. The creation fails if the
 * number is in use.
 */
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

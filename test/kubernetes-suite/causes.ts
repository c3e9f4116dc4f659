/** Known causes of failures, found by the message of the test and by its name. Pure. */
import type { TestResult } from './suite-log.ts';

/**
 * Causes by the name of the test, for tests whose message does not show the cause. The first match counts.
 */
const named: readonly (readonly [tests: RegExp, cause: string])[] = [
  [
    /^\[sig-apps\] Job should allow to use (a|the) pod failure policy/,
    'its pods are privileged, which fails where Docker itself has not all rights of the machine',
  ],
  [
    /^\[sig-autoscaling\] .* with scale limited by percentage /,
    'five and seven pods that request half a CPU each need more than one node of two CPUs',
  ],
  [
    /^\[sig-network\] .* should function for service endpoints using hostNetwork$/,
    'pods in the network of their node answer with the name of this machine, which all hosts of the cluster have',
  ],
  [
    /^\[sig-api-machinery\] Servers with support for API chunking /,
    'the history that the test waits for was not yet compacted after ten minutes',
  ],
];

/** Each has the name of a kind or a resource in it. */
const said: readonly RegExp[] = [
  /could not find the requested resource \(\w+ ([a-z]+)[.) ]/,
  /no matches for kind "(\w+)"/,
  /doesn't have a resource type "(\w+)"/,
  /expected (\w+) API group\/version/,
  /Expected gvr \S+ \S+ (\w+) to exist/,
  /Resource=(\w+) to be present/,
];
const short: Readonly<Record<string, string>> = { rc: 'replicationcontrollers' };

/** Undefined where nobody has looked yet. */
export function causeOf({ name, message }: TestResult): string | undefined {
  const byName = named.find(([tests]) => tests.test(name))?.[1];
  if (byName !== undefined) return byName;
  const found = said.map((pattern) => pattern.exec(message)?.[1]).find((resource) => resource !== undefined);
  return found === undefined ? undefined : `${pluralOf(found)} are not served`;
}

/** The resource of a kind; a resource stays as it is. */
function pluralOf(word: string): string {
  const lower = word.toLowerCase();
  if (short[lower] !== undefined) return short[lower];
  if (word === lower) return word;
  if (lower.endsWith('y')) return `${lower.slice(0, -1)}ies`;
  return lower.endsWith('s') ? `${lower}es` : `${lower}s`;
}

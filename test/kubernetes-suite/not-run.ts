/**
 * Tests that are left out, and why. Pure. `--all` runs those too that are left out because something is not
 * served.
 */

interface Rule {
  readonly tests: RegExp;
  readonly reason: string;
}

/** Most of these tests wait for something that never happens, for five minutes each or more. */
const notServed: readonly Rule[] = [
  {
    tests: /^\[sig-api-machinery\] Aggregator /,
    reason: 'other API servers are not asked (APIService): this waits five minutes for one',
  },
];

const twoNodes = /should have at least two untainted nodes|Daemon set \[Serial\] should rollback without/;

/** Reason to leave a test out: something that it uses and that is not available here. */
export function whatIsNotServed(name: string): string | undefined {
  return notServed.find(({ tests }) => tests.test(name))?.reason;
}

/** Why a test is left out on so many nodes; undefined when it runs. */
export function reasonNotToRun(name: string, nodes: number, all = false): string | undefined {
  if (nodes < 2 && twoNodes.test(name)) return 'asks for two nodes';
  return all ? undefined : whatIsNotServed(name);
}

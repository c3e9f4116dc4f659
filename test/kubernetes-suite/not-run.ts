/** Tests that are left out, and why. Pure. */

const twoNodes =
  /should have at least two untainted nodes|Daemon set (?:\[Serial\] )?should rollback without/;

/** Returns why a test is left out on a cluster of so many nodes; undefined if it runs. */
export const reasonNotToRun = (name: string, nodes: number): string | undefined =>
  nodes < 2 && twoNodes.test(name) ? 'asks for two nodes' : undefined;

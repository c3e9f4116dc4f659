/** Tests that are left out, and why. Pure. `--all` runs those too that are left out because something is not served. */

interface Rule {
  readonly tests: RegExp;
  readonly reason: string;
  /** With so many nodes it can run. */
  readonly nodes?: number;
}

const volumes = 'volumes configMap, secret, downwardAPI and projected are not served: the pod does not start';

/** What most of these wait for never comes, for five minutes each. */
const notServed: readonly Rule[] = [
  {
    tests: /^\[sig-storage\] (ConfigMap|Secrets|Projected [a-zA-Z]+|Downward API volume) /,
    reason: volumes,
  },
  {
    tests: /^\[sig-storage\] (Subpath Atomic writer volumes|EmptyDir wrapper volumes should not conflict)/,
    reason: volumes,
  },
  {
    tests: /^\[sig-auth\] ServiceAccounts (should mount projected|ServiceAccountIssuerDiscovery)/,
    reason: volumes,
  },
  {
    tests: /^\[sig-node\] Probing container should (be restarted|have monotonically)/,
    reason: 'probes are passed over: what these wait for does not happen',
  },
  {
    tests: /^\[sig-api-machinery\] Servers with support for API chunking /,
    reason: "podtemplates are not served, and that ends the suite's own process",
  },
  { tests: /^\[sig-node\] InitContainer /, reason: 'init containers are not served: the pod does not start' },
  {
    tests: /^\[sig-node\] (Container Lifecycle Hook|PreStop) /,
    reason: 'lifecycle hooks are not served: the pod does not start',
  },
];

const notHere: readonly Rule[] = [
  { tests: /should have at least two untainted nodes/, reason: 'asks for two nodes', nodes: 2 },
];

/** Why a test is left out on so many nodes; undefined when it runs. */
export function reasonNotToRun(name: string, nodes: number, all = false): string | undefined {
  const rules = all ? notHere : [...notHere, ...notServed];
  return rules.find((rule) => rule.tests.test(name) && nodes < (rule.nodes ?? Number.POSITIVE_INFINITY))
    ?.reason;
}

/** Changes that change nothing: no test can notice them. Each with its reason. */
import type { Mutant } from './mutants.ts';

export interface Equivalent {
  readonly file: string;
  /** The line of the source where the change begins, trimmed. */
  readonly line: string;
  /** As a run prints it. */
  readonly change: string;
  readonly because: string;
}

export const equivalents: readonly Equivalent[] = [
  ...['a < b → a <= b', 'a > b → true', 'a > b → a >= b', '0 → 1'].map((change) => ({
    file: 'src/proxy/render.ts',
    line: 'const byCodeUnit = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);',
    change,
    because:
      'keys of a Map or Set are compared, of which no two are the same; of the answer only the sign counts',
  })),
  {
    file: 'src/kubelet/plan/kernel-files.ts',
    line: 'return Number.isFinite(limit) && limit < 2 ** 60 ? limit : undefined;',
    change: 'Number.isFinite(limit) && limit < 2 ** 60 → (limit < 2 ** 60)',
    because: 'neither NaN nor Infinity is less than a number; a limit is never below zero',
  },
  ...[
    {
      file: 'src/apiserver/authorization/authorizer.ts',
      line: "request.type === 'resource' &&",
      change: "request.type === 'resource' && request.verb === 'create' → (request.verb === 'create')",
    },
    {
      file: 'src/apiserver/authorization/node-bootstrapper.ts',
      line: "request.type === 'resource' && asks(request.user) && mayRequest(request, requesterOf);",
      change: "request.type === 'resource' && asks(request.user) → (asks(request.user))",
    },
    {
      file: 'src/apiserver/authorization/node-authorizer.ts',
      line: "if (node === undefined || request.type !== 'resource') return false;",
      change: "node === undefined || request.type !== 'resource' → (node === undefined)",
    },
  ].map((mutant) => ({
    ...mutant,
    because:
      'a request for a path has no group and no resource, so that it fits no rule; the types want the check',
  })),
  ...['parseIPv4(ip) ?? -1 → (parseIPv4(ip))', '1 → 2'].map((change) => ({
    file: 'src/apiserver/registry/address-range.ts',
    line: 'const position = (parseIPv4(ip) ?? -1) - range.first;',
    change,
    because: 'what is no address has the position NaN, or one below zero: neither is in the range',
  })),
  ...[
    [
      'if (clusterIP && isTaken(ipClaim(clusterIP))) {',
      'clusterIP && isTaken(ipClaim(clusterIP)) → (isTaken(ipClaim(clusterIP)))',
    ],
    [
      'if (nodePort && isTaken(portClaim(nodePort))) {',
      'nodePort && isTaken(portClaim(nodePort)) → (isTaken(portClaim(nodePort)))',
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/apiserver/registry/service-claims.ts',
    line,
    change,
    because: 'there is no claim of an address or a port that is not there, so nobody can have it',
  })),
  {
    file: 'src/apiserver/registry/service-claims.ts',
    line: 'if (needsIP(spec) && clusterIP && clusterIP !== previous?.clusterIP) {',
    change: 'needsIP(spec) && clusterIP → (needsIP(spec))',
    because: 'a Service that needs an address has been given one; the types do not know',
  },
  {
    file: 'src/apiserver/registry/service-claims.ts',
    line: 'for (let step = 0; step < size; step++) {',
    change: 'step < size → step <= size',
    because: 'after the last comes the first again, which was busy',
  },
  ...['missing >= 0 → missing > 0', '0 → 1'].map((change) => ({
    file: 'src/controllers/replicaset-plan.ts',
    line: 'if (missing >= 0) return { create: Math.min(missing, burstReplicas), remove: [] };',
    change,
    because: 'with none missing the other way makes none and deletes the first 0',
  })),
  {
    file: 'src/controllers/replicaset-plan.ts',
    line: 'const phaseRank = { Pending: 0, Unknown: 1, Running: 2, Succeeded: 2, Failed: 2 } as const;',
    change: '2 → 3',
    because: 'only the order counts, and pods that have ended are not ranked',
  },
  ...['b[index] ?? 0 → (b[index])', '0 → 1'].map((change) => ({
    file: 'src/controllers/replicaset-plan.ts',
    line: 'const right = b[index] ?? 0;',
    change,
    because: 'both lists are of the same length',
  })),
  {
    file: 'src/controllers/garbage-collector.ts',
    line: 'if (references.length === 0 && !isTerminating(object)) return;',
    change: 'references.length === 0 && !isTerminating(object) → false',
    because: 'it saves work: the plan for such an object is none',
  },
  {
    file: 'src/controllers/garbage-collector.ts',
    line: "const [kind = '', uid = '', at = ''] = key.split(' ');",
    change: "'' → 'mutated'",
    because: 'every key has three parts',
  },
  {
    file: 'src/controllers/taint-eviction.ts',
    line: 'const left = pod && node ? timeLeft(key, pod, node) : undefined;',
    change: 'pod && node → (node)',
    because: 'the node is that of the pod',
  },
  ...[
    '!pod || !node → (!pod)',
    '!pod || !node → (!node)',
    '!pod || !node || left === undefined → (left === undefined)',
  ].map((change) => ({
    file: 'src/controllers/taint-eviction.ts',
    line: 'if (!pod || !node || left === undefined) {',
    change,
    because: 'a time is left only to a pod on a node',
  })),
  {
    file: 'src/controllers/endpoints-plan.ts',
    line: `ports.map(({ name = '', port }) => \`\${name} \${String(port).padStart(5, '0')}\`).join();`,
    change: '5 → 6',
    because: 'a port has at most five digits',
  },
  {
    file: 'src/controllers/endpoints-plan.ts',
    line: 'if (total <= max) return counts;',
    change: 'total <= max → total < max',
    because: 'of a total that is just the most, each part is its count',
  },
  {
    file: 'src/controllers/csr-approving-plan.ts',
    line: "function makerOf({ username = '', groups = [] }: CertificateSigningRequest['spec']): Maker | undefined {",
    change: "'' → 'mutated'",
    because: 'neither is the name of a token or of a node',
  },
  ...[
    "nodeOfCommonName(content.commonName) ?? '' → (nodeOfCommonName(content.commonName))",
    "'' → 'mutated'",
  ].map((change) => ({
    file: 'src/controllers/csr-approving-plan.ts',
    line: "const name = nodeOfCommonName(content.commonName) ?? '';",
    change,
    because: 'the check of the content, before it, refuses a common name without one',
  })),
  ...["lease?.spec.renewTime ?? '' → (lease?.spec.renewTime)", "'' → 'mutated'"].map((change) => ({
    file: 'src/controllers/csr-approving-plan.ts',
    line: "Math.max(0, Math.floor((now - Date.parse(lease?.spec.renewTime ?? '')) / 1000));",
    change,
    because: 'none of them is a time',
  })),
  {
    file: 'src/controllers/csr-cleaner-plan.ts',
    line: ".map(({ lastUpdateTime = '' }) => Date.parse(lastUpdateTime) || created);",
    change: "'' → 'mutated'",
    because: 'neither is a time',
  },
  {
    file: 'src/controllers/node-ipam-plan.ts',
    line: 'known.set(node, ranges);',
    change: 'known.set(node, ranges); → ;',
    because: 'what is not remembered is read again',
  },
  {
    file: 'src/controllers/deployment-plan.ts',
    line: 'const greater = (a: bigint, b: bigint) => (a > b ? a : b);',
    change: 'a > b → a >= b',
    because: 'of two equal numbers either is the greater',
  },
  {
    file: 'src/controllers/deployment-plan.ts',
    line: `: \`Scaled \${after > before ? 'up' : 'down'} replica set \${name} from \${before} to \${after}\`;`,
    change: 'after > before → after >= before',
    because: 'sizes that are equal have been answered before',
  },
  ...[
    'const ordered = (toAdd > 0 ? byAge.reverse() : byAge).sort((a, b) => b.spec.replicas - a.spec.replicas);',
    'const part = toAdd > 0 ? Math.min(wanted, left) : Math.max(wanted, left);',
  ].map((line) => ({
    file: 'src/controllers/deployment-rollout.ts',
    line,
    change: 'toAdd > 0 → toAdd >= 0',
    because: 'with nothing to add every part is 0, in whatever order',
  })),
  ...[
    ['#dueAt = 0;', '0 → 1'],
    ['#since = 0;', '0 → 1'],
    ['#storeLost = false;', 'false → true'],
  ].map(([line = '', change = '']) => ({
    file: 'src/controllers/heartbeat-monitor.ts',
    line,
    change,
    because: '`follow` sets it, before anything is asked',
  })),
  {
    file: 'src/controllers/heartbeat-monitor.ts',
    line: 'const gap = now - (this.#receivedAt ?? now);',
    change: 'this.#receivedAt ?? now → (this.#receivedAt)',
    because: 'NaN is no more greater than a limit than 0 is',
  },
  ...['gap > tickMs → gap >= tickMs', 'gap > tickMs && gap > limit() → (gap > limit())'].map((change) => ({
    file: 'src/controllers/heartbeat-monitor.ts',
    line: 'if (this.#storeLost || (gap > tickMs && gap > limit())) this.#restart();',
    change,
    because: 'it only saves asking for the limit, which is longer than a tick',
  })),
  {
    file: 'src/controllers/observed-writes.ts',
    line: 'this.#byUid.delete(uid);',
    change: 'this.#byUid.delete(uid); → ;',
    because: 'it only frees memory: what is forgotten can be forgotten again',
  },
];

/** Those of a file: which of its mutants they are, and which of them are of none, since the source has changed. */
export function matchEquivalents(
  file: string,
  source: string,
  mutants: readonly Mutant[],
  list: readonly Equivalent[],
): { readonly matched: ReadonlySet<Mutant>; readonly stale: readonly Equivalent[] } {
  const lines = source.split('\n');
  const matched = new Set<Mutant>();
  const stale = list.filter((entry) => {
    if (entry.file !== file) return false;
    const found = mutants.filter(
      ({ line, change }) => change === entry.change && lines[line - 1]?.trim() === entry.line,
    );
    for (const mutant of found) matched.add(mutant);
    return found.length === 0;
  });
  return { matched, stale };
}

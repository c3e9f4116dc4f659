/** Changes that change nothing: no test can notice them. Each with its reason. */
import { apiserverAnswers } from './equivalents/apiserver-answers.ts';
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
  ...apiserverAnswers,
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
  ...[
    'this.#first * 2 > this.#items.length → true',
    'this.#first * 2 > this.#items.length → false',
    'this.#first * 2 > this.#items.length → this.#first * 2 >= this.#items.length',
    'this.#first * 2 → this.#first / 2',
    '2 → 3',
  ].map((change) => ({
    file: 'src/storage/fifo.ts',
    line: 'if (this.#first * 2 > this.#items.length) {',
    change,
    because: 'when those that have gone are let go changes only what time and memory it takes',
  })),
  ...[
    ['if (keys.length > 0) return;', 'keys.length > 0 → true'],
    ['if (keys.length > 0) return;', 'keys.length > 0 → keys.length >= 0'],
    ['let nested = false;', 'false → true'],
    [
      'nested ||= previous !== undefined && name.startsWith(previous);',
      'previous !== undefined && name.startsWith(previous) → (previous !== undefined)',
    ],
    [
      'const interleaved = nested || (own !== prefix && parts.length > 1);',
      'own !== prefix && parts.length > 1 → (own !== prefix)',
    ],
    [
      'const interleaved = nested || (own !== prefix && parts.length > 1);',
      'own !== prefix && parts.length > 1 → (parts.length > 1)',
    ],
    [
      'const interleaved = nested || (own !== prefix && parts.length > 1);',
      'parts.length > 1 → parts.length >= 1',
    ],
    ['return interleaved ? all.sort((a, b) => (a.key < b.key ? -1 : 1)) : all;', 'interleaved → true'],
    ["return key.slice(0, key.lastIndexOf('/') + 1);", "key.slice(0, key.lastIndexOf('/') + 1) → key"],
    ["return key.slice(0, key.lastIndexOf('/') + 1);", "'/' → ''"],
  ].map(([line = '', change = '']) => ({
    file: 'src/storage/object-index.ts',
    line,
    change,
    because:
      'what is in order is put in order once more, or kept in more and smaller parts: it only saves time',
  })),
  {
    file: 'src/storage/codec.ts',
    line: 'const seam = findSeam(bytes) ?? findSeam(encodeObject(decodeObject(bytes, 0)));',
    change: '0 → 1',
    because: 'the bytes to store carry no revision',
  },
  ...[
    ['explain.ts', 'shortagesOf(rejections).reduce((sum, shortage) => sum + missing(shortage), 0);'],
    [
      'schedule-one.ts',
      '(node) => plugins.reduce((sum, plugin) => sum + (plugin.score?.(pod, node) ?? 0), 0),',
    ],
  ].map(([file, line]) => ({
    file: `src/scheduler/${file}`,
    line: line ?? '',
    change: '0 → 1',
    because: 'nodes are compared, to each of which the same is added',
  })),
  ...[
    "if (resource === 'cpu') return formatQuantity({ nano: whole * 1_000_000n, format: 'DecimalSI' });",
    "const format = resource === 'memory' || resource === 'ephemeral-storage' ? 'BinarySI' : 'DecimalSI';",
  ].map((line) => ({
    file: 'src/scheduler/explain.ts',
    line,
    change: "'DecimalSI' → ''",
    because: 'what is neither of the two others is written so; the compiler allows these three',
  })),
  {
    file: 'src/scheduler/schedule-one.ts',
    line: '(node.weighed.get(resource) ?? 0) / (node.allocatable.get(resource) || 1);',
    change: '1 → 2',
    because:
      'a node with pods and none of the resource comes last with either; one without pods has a share of 0',
  },
  ...[
    "const { name, namespace = '', uid } = pod.metadata;",
    "const { name, namespace = '' } = pod.metadata;",
  ].map((line) => ({
    file: 'src/scheduler/scheduler.ts',
    line,
    change: "'' → 'mutated'",
    because: 'a pod has a namespace; only the type does not say so',
  })),
  {
    file: 'src/scheduler/scheduler.ts',
    line: 'if (fingerprint === undefined) fingerprints.delete(key);',
    change: 'fingerprint === undefined → false',
    because: 'a Map gives undefined for what it does not have: it only saves memory',
  },
  {
    file: 'src/scheduler/plugins/resources-fit.ts',
    line: 'if (pods !== undefined && node.podCount + 1 > pods)',
    change: 'pods !== undefined && node.podCount + 1 > pods → (node.podCount + 1 > pods)',
    because: 'no number is more than undefined; the compiler asks',
  },
  {
    file: 'src/scheduler/plugins/supported-placement.ts',
    line: 'known.set(pod, found);',
    change: 'known.set(pod, found); → ;',
    because: 'it is found again then: it only saves time',
  },
  ...[
    ['this.#tidy(name);', 'this.#tidy(name); → ;'],
    ['this.#tidy(nodeName);', 'this.#tidy(nodeName); → ;'],
    ['if (!node && podCount === 0) this.#taken.delete(nodeName);', '!node && podCount === 0 → false'],
  ].map(([line = '', change = '']) => ({
    file: 'src/scheduler/snapshot.ts',
    line,
    change,
    because: 'it only saves memory: a node that is not known is not told of',
  })),
  {
    file: 'src/scheduler/snapshot.ts',
    line: '#freed = false;',
    change: 'false → true',
    because: 'nothing waits when it is asked first',
  },
  {
    file: 'src/proxy/element-table.ts',
    line: 'for (const entry of owners ?? []) if (!first || entry[0] < first[0]) first = entry;',
    change: 'entry[0] < first[0] → entry[0] <= first[0]',
    because: 'the keys of a Map are compared, of which no two are the same',
  },
  ...[
    'elementNames.some((name) => elements[name].size > 0) → true',
    'elements[name].size > 0 → elements[name].size >= 0',
  ].map((change) => ({
    file: 'src/proxy/element-table.ts',
    line: 'if (elementNames.some((name) => elements[name].size > 0)) this.#byOwner.set(owner, elements);',
    change,
    because: 'who wanted nothing is like who is not known: it only saves memory',
  })),
  {
    file: 'src/proxy/element-table.ts',
    line: 'if (old?.[name].get(key) !== value) this.#set(name, key, owner, value);',
    change: 'old?.[name].get(key) !== value → true',
    because: 'who wants it already wants it still: it only saves time',
  },
  {
    file: 'src/proxy/proxier.ts',
    line: 'const added = chains ? difference.added : elements.all();',
    change: 'chains → false',
    because: 'the chains of all that was there are known: it only saves time',
  },
  {
    file: 'src/proxy/proxier.ts',
    line: "const bySlice = 'service';",
    change: "'service' → ''",
    because: 'the name of an index that only this file uses',
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

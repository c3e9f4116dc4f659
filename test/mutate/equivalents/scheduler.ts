/** Equivalent mutants of the scheduler. */
import type { Equivalent } from '../equivalent.ts';

type Lines = readonly (readonly [line: string, change: string])[];

const of = (name: string, because: string, lines: Lines): Equivalent[] =>
  lines.map(([line, change]) => ({ file: `src/scheduler/${name}`, line, change, because }));

const asked = 'only the type does not say that it is there; the compiler asks';
export const scheduler: readonly Equivalent[] = [
  ...of('explain.ts', 'what is neither of the two others is written so; the compiler allows these three', [
    [
      "if (resource === 'cpu') return formatQuantity({ nano: whole * 1_000_000n, format: 'DecimalSI' });",
      "'DecimalSI' → ''",
    ],
    [
      "const format = resource === 'memory' || resource === 'ephemeral-storage' ? 'BinarySI' : 'DecimalSI';",
      "'DecimalSI' → ''",
    ],
  ]),
  ...of(
    'policies.ts',
    'a node with pods and none of the resource comes last with either; one without pods has a share of 0',
    [['(node.weighed.get(resource) ?? 0) / (node.allocatable.get(resource) || 1);', '1 → 2']],
  ),
  ...of('plugins/resources-fit.ts', 'no number is more than undefined; the compiler asks', [
    [
      'if (pods !== undefined && node.podCount + 1 > pods)',
      'pods !== undefined && node.podCount + 1 > pods → (node.podCount + 1 > pods)',
    ],
  ]),
  ...of('plugins/default-binder.ts', 'a pod has a namespace; only the type does not say so', [
    ["const { name, namespace = '', uid } = metadata;", "'' → 'mutated'"],
  ]),
  ...of(
    'plugins/default-preemption.ts',
    'no pod of a lower priority is found then either: it only spares the search',
    [
      [
        'if (cluster.lowestPriority >= pod.priority) return undefined;',
        'cluster.lowestPriority >= pod.priority → false',
      ],
      [
        'if (cluster.lowestPriority >= pod.priority) return undefined;',
        'cluster.lowestPriority >= pod.priority → cluster.lowestPriority > pod.priority',
      ],
    ],
  ),
  ...of('plugins/default-preemption.ts', asked, [
    [
      'const node = nominated === undefined ? undefined : cluster.node(nominated);',
      'nominated === undefined → false',
    ],
    [
      'const { rejections = [] } = nodes.find((one) => one.node === nominated) ?? {};',
      'nodes.find((one) => one.node === nominated) ?? {} → (nodes.find((one) => one.node === nominated))',
    ],
    [
      "const start = Date.parse(pod.status?.startTime ?? '');",
      "pod.status?.startTime ?? '' → (pod.status?.startTime)",
    ],
    ["const start = Date.parse(pod.status?.startTime ?? '');", "'' → 'mutated'"],
    ['({ victims }) => victims[0]?.priority ?? 0,', 'victims[0]?.priority ?? 0 → (victims[0]?.priority)'],
  ]),
  ...of('plugins/default-preemption.ts', 'the first node is looked at twice and costs the same', [
    ['for (let index = 0; index < nodes.length; index++) {', 'index < nodes.length → index <= nodes.length'],
  ]),
  ...of('plugins/default-preemption.ts', 'what a node refuses it refuses when all have come back', [
    [
      'return victims.length === 0 ? undefined : { node: node.name, victims, violations: violated.length };',
      'victims.length === 0 → false',
    ],
  ]),
  ...of(
    'plugins/default-preemption.ts',
    'every number does that makes the lowest priority positive, or that is added for all alike',
    [
      ['({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),', '2 → 3'],
      ['({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),', '31 → 32'],
      ['({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),', '0 → 1'],
    ],
  ),
  ...of('plugins/default-preemption.ts', 'a difference is a whole number, and not 0 here', [
    ['if (difference !== 0) return difference < 0;', 'difference < 0 → difference <= 0'],
  ]),
  ...of('plugins/image-locality.ts', 'one byte changes no choice', [
    ['sum += ((images.get(name) ?? 0) * cluster.nodesWithImage(name)) / cluster.nodes.length;', '0 → 1'],
  ]),
  ...of('plugins/inter-pod-affinity.ts', 'of no domain nothing is counted; the compiler asks', [
    ['if (domain !== undefined) score += domains.get(domain) ?? 0;', 'domain !== undefined → true'],
    [
      'return domain === undefined ? changes : new Map(changes).set(domain, (changes.get(domain) ?? 0) + by);',
      'domain === undefined → false',
    ],
  ]),
  ...of('plugins/inter-pod-affinity.ts', 'no node that can take the pod is in such a domain', [
    ["if (bond !== 'away')", "bond !== 'away' → true"],
    ["if (bond !== 'away')", "'away' → ''"],
  ]),
  ...of('plugins/inter-pod-affinity.ts', 'scores are moved so that the least is 0', [
    ["return gains.size === 0 ? 'skip' : { state: gains };", 'gains.size === 0 → false'],
    ['let score = 0;', '0 → 1'],
  ]),
  ...of(
    'plugins/inter-pod-affinity.ts',
    'it only lets queries that ask for the same share their counts, or keeps more of them',
    [['if (!one) return other;', '!one → false']],
  ),
  ...of('plugins/node-affinity.ts', 'the same as none', [
    [
      "return required ? { state: required.suits, ...(required.names && { nodes: required.names }) } : 'skip';",
      'required.names && { nodes: required.names } → ({ nodes: required.names })',
    ],
  ]),
  {
    file: 'src/api/core/v1/node/selection.ts',
    line: '...(names && { names }),',
    change: 'names && { names } → ({ names })',
    because: 'the same as none',
  },
  ...of('plugins/node-ports.ts', 'no port of none is taken: it only spares the filter', [
    [
      "preFilter: ({ hostPorts }) => (hostPorts.length > 0 ? { state: undefined } : 'skip'),",
      'hostPorts.length > 0 → true',
    ],
    [
      "preFilter: ({ hostPorts }) => (hostPorts.length > 0 ? { state: undefined } : 'skip'),",
      'hostPorts.length > 0 → hostPorts.length >= 0',
    ],
    ["preFilter: ({ hostPorts }) => (hostPorts.length > 0 ? { state: undefined } : 'skip'),", "'skip' → ''"],
  ]),
  ...of('plugins/scheduling-policy.ts', 'it has no filter that could be skipped', [
    ["if (asked === undefined || policyOf(pod)) return 'skip';", "'skip' → ''"],
  ]),
  ...of('plugins/taint-toleration.ts', 'what was read once is only read again', [
    ['if (found) return found;', 'found → false'],
    ['known.set(node, taints);', 'known.set(node, taints); → ;'],
  ]),
  ...of('plugins/taint-toleration.ts', 'every other taint of a node that can take the pod is tolerated', [
    [
      "(taint) => taint.effect === 'PreferNoSchedule' && !tolerates(pod.spec.tolerations, taint),",
      "taint.effect === 'PreferNoSchedule' && !tolerates(pod.spec.tolerations, taint) → (!tolerates(pod.spec.tolerations, taint))",
    ],
  ]),
  ...of('plugins/topology-spread.ts', 'of no constraint nothing is refused, and every node gets as much', [
    ["if (constraints.length === 0) return 'skip';", 'constraints.length === 0 → false'],
  ]),
  ...of('plugins/topology-spread.ts', 'a node without a domain does not count; the compiler asks', [
    [
      'if (domain === undefined || !counts.includes(nodeName) || !counts.matches(other.pod)) return counted;',
      'domain === undefined || !counts.includes(nodeName) → (!counts.includes(nodeName))',
    ],
  ]),
  ...of('plugins/topology-spread.ts', 'what is not 0 is more than 1', [
    ['let [most, least] = [0, Number.POSITIVE_INFINITY];', '0 → 1'],
  ]),
  ...of('plugins/topology-spread.ts', 'the same number again', [
    ['if (score > most) most = score;', 'score > most → score >= most'],
    ['if (score < least) least = score;', 'score < least → score <= least'],
  ]),
  ...of('plugins/volume-binding.ts', 'of no claim nothing is missing: it only spares the filter', [
    ["if (claims.length === 0) return 'skip';", 'claims.length === 0 → false'],
  ]),
  ...of('plugins/volume-binding.ts', asked, [
    ["volumes.claim(metadata.namespace ?? '', name);", "metadata.namespace ?? '' → (metadata.namespace)"],
    ["volumes.claim(metadata.namespace ?? '', name);", "'' → 'mutated'"],
    [
      `(spec.volumes ?? []).some((volume) => volume.ephemeral && \`\${metadata.name}-\${volume.name}\` === claimName);`,
      'spec.volumes ?? [] → (spec.volumes)',
    ],
  ]),
  ...of('plugins/volume-restrictions.ts', 'a pod has a namespace; only the type does not say so', [
    ["const { namespace = '', uid } = metadata;", "'' → 'mutated'"],
  ]),
  ...of(
    'affinity-term.ts',
    'it only lets queries that ask for the same share their counts, or reports the same apart in another text',
    [
      [
        'const namespaces = named.length === 0 && !namespaceSelector ? [ownNamespace] : [...new Set(named)].sort();',
        '[...new Set(named)].sort() → [...new Set(named)]',
      ],
    ],
  ),
  ...of('cluster-sources.ts', 'a pod, or a budget, has a namespace; only the type does not say so', [
    [
      "const key = keyOf(metadata.namespace ?? '', owner.name);",
      "metadata.namespace ?? '' → (metadata.namespace)",
    ],
    ["namespace: metadata.namespace ?? '',", "metadata.namespace ?? '' → (metadata.namespace)"],
  ]),
  ...of('cluster-sources.ts', 'a function answers nothing at its end as well; the linter asks', [
    ['return undefined;', 'return undefined; → ;'],
  ]),
  ...of('known-failures.ts', 'no generation is below 0', [['#generation = -1;', '1 → 2']]),
  ...of('node-order.ts', 'one text for no zone is as good as another', [
    [
      "zoneKeys.map((key) => node.metadata.labels?.[key] ?? '').join('\\0');",
      "node.metadata.labels?.[key] ?? '' → (node.metadata.labels?.[key])",
    ],
    ["zoneKeys.map((key) => node.metadata.labels?.[key] ?? '').join('\\0');", "'' → 'mutated'"],
  ]),
  ...of('placed-pods.ts', asked, [
    ['if (placed) yield placed;', 'placed → true'],
    ["const { namespace = '' } = info.pod.metadata;", "'' → 'mutated'"],
  ]),
  ...of('affinity-term.ts', 'a pod has a namespace; only the type does not say so', [
    ["const { namespace = '' } = metadata;", "'' → 'mutated'"],
  ]),
  ...of('explain.ts', 'only what is more than that of another node counts', [
    ['let others = 0;', '0 → 1'],
    ['let lack = 0;', '0 → 1'],
  ]),
  ...of('framework.ts', 'the same number again', [
    ['for (const score of scores) if (score > most) most = score;', 'score > most → score >= most'],
  ]),
  ...of('schedule-one.ts', 'of a hundred nodes a hundred are enough', [
    ['if (nodes <= minScored) return nodes;', 'nodes <= minScored → nodes < minScored'],
  ]),
  ...of('node-state.ts', 'no port is added to those that are there, or taken from them', [
    [
      'if (pod.hostPorts.length > 0) this.hostPorts = [...this.hostPorts, ...pod.hostPorts];',
      'pod.hostPorts.length > 0 → true',
    ],
    [
      'if (pod.hostPorts.length > 0) this.hostPorts = [...this.hostPorts, ...pod.hostPorts];',
      'pod.hostPorts.length > 0 → pod.hostPorts.length >= 0',
    ],
    ['if (pod.hostPorts.length > 0)', 'pod.hostPorts.length > 0 → true'],
    ['if (pod.hostPorts.length > 0)', 'pod.hostPorts.length > 0 → pod.hostPorts.length >= 0'],
  ]),
  ...of('nominations.ts', 'what is gone is not there to be deleted', [
    ['if (node === undefined) return undefined;', 'node === undefined → false'],
  ]),
  ...of('nominations.ts', 'nobody waits there either way: it only frees the memory', [
    ['if (there?.size === 0) this.#byNode.delete(node);', 'there?.size === 0 → false'],
  ]),
  ...of('permits.ts', 'who has none is not asked', [
    [
      'this.#plugins = plugins.filter(({ permit }) => permit !== undefined);',
      'plugins.filter(({ permit }) => permit !== undefined) → plugins',
    ],
  ]),
  ...of('pod-info.ts', 'what was read once is only read again', [
    ['if (found) return found;', 'found → false'],
    ['known.set(pod, info);', 'known.set(pod, info); → ;'],
  ]),
];

import type { Equivalent } from '../equivalent.ts';

export const scheduler: readonly Equivalent[] = [
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
];

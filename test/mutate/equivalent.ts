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
  {
    file: 'src/kubelet/plan/kernel-files.ts',
    line: 'return Number.isFinite(limit) && limit < 2 ** 60 ? limit : undefined;',
    change: 'Number.isFinite(limit) && limit < 2 ** 60 → (limit < 2 ** 60)',
    because: 'neither NaN nor Infinity is less than a number; a limit is never below zero',
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

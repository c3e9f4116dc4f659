import type { Equivalent } from '../equivalent.ts';

export const proxy: readonly Equivalent[] = [
  {
    file: 'src/service-proxy/element-table.ts',
    line: 'for (const entry of owners ?? []) if (!first || entry[0] < first[0]) first = entry;',
    change: 'entry[0] < first[0] → entry[0] <= first[0]',
    because: 'the keys of a Map are compared, of which no two are the same',
  },
  ...[
    'elementNames.some((name) => elements[name].size > 0) → true',
    'elements[name].size > 0 → elements[name].size >= 0',
  ].map((change) => ({
    file: 'src/service-proxy/element-table.ts',
    line: 'if (elementNames.some((name) => elements[name].size > 0)) this.#byOwner.set(owner, elements);',
    change,
    because: 'who wanted nothing is like who is not known: it only saves memory',
  })),
  {
    file: 'src/service-proxy/element-table.ts',
    line: 'if (old?.get(key) !== value) this.#set(name, key, owner, value);',
    change: 'old?.get(key) !== value → true',
    because: 'the owner keeps an element that it has: the comparison only saves time',
  },
  {
    file: 'src/service-proxy/family-rules.ts',
    line: 'const added = chains ? difference.added : this.elements.all();',
    change: 'chains → false',
    because: 'the chains of all that was there are known: it only saves time',
  },
  {
    file: 'src/service-proxy/proxier.ts',
    line: "export const bySlice = 'service';",
    change: "'service' → ''",
    because: 'the name of an index, which no other place spells',
  },
];

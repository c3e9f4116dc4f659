import type { Equivalent } from '../equivalent.ts';

export const storage: readonly Equivalent[] = [
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
];

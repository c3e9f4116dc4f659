import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { mutantsOf, mutated } from '../../mutate/mutants.ts';

const changesOf = (source: string) => mutantsOf('x.ts', source).map(({ change }) => change);

/** Mutants of a source; each once, in order. */
const rules: readonly [what: string, source: string, changes: readonly string[]][] = [
  ['a condition', 'if (f) g = h;', ['f → true', 'f → false']],
  ['a comparison in a condition', 'if (a < b) g = h;', ['a < b → true', 'a < b → false', 'a < b → a <= b']],
  ['a comparison elsewhere', 'const c = a >= b;', ['a >= b → a > b', 'a >= b → a < b']],
  ['equality', 'const c = a === b;', ['a === b → a !== b']],
  ['a name in an object', 'const c = a in b;', ['a in b → !(a in b)']],
  [
    'both of two conditions: always would be noticed with either side alone',
    'if (a && b) g = h;',
    ['a && b → false', 'a && b → (a)', 'a && b → (b)'],
  ],
  ['one of two conditions', 'if (a || !b) g = h;', ['a || !b → true', 'a || !b → (a)', 'a || !b → (!b)']],
  ['what is otherwise', 'const c = a ?? b;', ['a ?? b → (a)']],
  ['not', 'const c = !a;', ['!a → (a)']],
  ['one of two values', 'const c = a ? b : d;', ['a → true', 'a → false']],
  [
    'an order of what is never equal: only the sign counts',
    'const c = (a, b) => (a[1] < b ? -1 : 1);',
    ['a[1] < b → true', 'a[1] < b → false', '1 → 2'],
  ],
  [
    'an order of what may be equal',
    'const c = (a, b) => (a < b ? -1 : a > b ? 1 : 0);',
    [
      'a < b → true',
      'a < b → false',
      'a < b → a <= b',
      'a > b → true',
      'a > b → false',
      'a > b → a >= b',
      '0 → 1',
    ],
  ],
  ['a loop, which must end', 'while (a) b = c;', ['a → false', 'b = c; → ;']],
  ['a counted loop', 'for (; a; i++) b = c;', ['a → false', 'b = c; → ;']],
  ['arithmetic', 'const c = a + (b) * d;', ['a + (b) * d → a - (b) * d', '(b) * d → (b) / d']],
  ['texts put together', "const c = a + 'b';", ["'b' → ''"]],
  ['a sign', 'const c = -a;', ['-a → a']],
  ['a number below zero', 'const c = -1;', ['1 → 2']],
  ['an order', 'const c = a < b ? -1 : 1;', ['a < b → true', 'a < b → false']],
  [
    'an order that knows what is the same',
    'const c = a < b ? -1 : a > b ? 1 : 0;',
    [
      'a < b → true',
      'a < b → false',
      'a < b → a <= b',
      'a > b → true',
      'a > b → false',
      'a > b → a >= b',
      '0 → 1',
    ],
  ],
  ['counting', 'a++;', ['a++ → a--', 'a++; → ;']],
  ['adding', 'a += b;', ['a += b → a -= b', 'a += b; → ;']],
  ['adding a text', 'a += `b`;', ['a += `b`; → ;', "`b` → ''"]],
  ['a value if there is none', 'a ??= b;', ['a ??= b → a = b', 'a ??= b; → ;']],
  ['a call', 'f(a);', ['f(a); → ;']],
  ['what is waited for', 'await f();', ['await f(); → ;']],
  [
    'texts and numbers',
    "const c = f('', 'a', 7, true);",
    ["'' → 'mutated'", "'a' → ''", '7 → 8', 'true → false'],
  ],
  [
    'keys, modules and words of typeof',
    "import a from 'a'; const c = { 'a': typeof b === 'string' };",
    ["typeof b === 'string' → typeof b !== 'string'"],
  ],
  ['a list', "const c = [a, 'b'];", ['a, → (nothing)', "'b' → (nothing)"]],
  ['a list of pairs', "const c = new Map([['a', 1]]);", ["['a', 1] → (nothing)", "'a' → ''", '1 → 2']],
  ['an object with all of another', 'const c = { ...a, b };', ['...a, → (nothing)']],
  ['a list that is picked from', 'const c = a.filter(b).length;', ['a.filter(b) → a']],
  ['a list that is put in order where it is', 'a.sort();', ['a.sort(); → ;']],
  ['some and all', 'const c = a.b?.some(d);', ['a.b?.some(d) → a.b?.every(d)']],
  ['the least', 'const c = Math.min(a, b);', ['Math.min(a, b) → Math.max(a, b)']],
  ['a method by the name of what every object has', 'const c = a.toString();', []],
  [
    'an early end',
    'function f() { if (a) { return; } g(); if (b) h(); else return 3; return c; }',
    ['a → true', 'a → false', 'g(); → ;', 'b → true', 'b → false', 'h(); → ;', 'return 3; → ;', '3 → 4'],
  ],
  ['yes or no', 'const f = (a): boolean => a.has(b);', ['a.has(b) → !(a.has(b))']],
  ['yes or no, in a block', 'function f(): a is B { return a; }', ['a → !(a)']],
  ['a function of anything', 'const f = (a) => a.has(b);', []],
  ['an error, whose words are for people', "throw new Error('no');", ["throw new Error('no'); → ;"]],
  ['an error made elsewhere', "const c = invalidError('no');", []],
  ['a line of the log', "this.#log.warn('no');", ["this.#log.warn('no'); → ;"]],
  ['types', "type A = 'a' | 1; interface B { c: [2] } const d = a as 'e';", []],
  ['imports and exports', "import { a } from 'a'; export * from 'b'; export { c } from 'd';", []],
  ['a case', "switch (a) { case 'b': break; }", ["'b' → ''", 'break; → ;']],
  ['a constructor', 'class A extends B { constructor() { super(); } }', []],
  ['what an error calls itself', "class E extends TypeError { name = 'E' }", []],
  ['what another class calls something', "class E extends F { name = 'E' }", ["'E' → ''"]],
  [
    'numbers in words for people',
    `f(new RangeError(\`\${a + 1} of \${b ?? c}\`));`,
    [`f(new RangeError(\`\${a + 1} of \${b ?? c}\`)); → ;`],
  ],
  ['a log statement above level debug', "log.debug('a', { b }); log.info('a');", ["log.info('a'); → ;"]],
];

describe('a source may become', () => {
  for (const [what, source, changes] of rules)
    it(what, () => assert.deepEqual(changesOf(source).sort(), [...changes].sort()));
});

test('a mutant has its line, and differs from the source in one place', () => {
  const source = '// ü\nconst a = 1;\nconst b =\n  a <\n  2;\n';
  const [one] = mutantsOf('x.ts', source);
  assert.ok(one);
  assert.equal(mutated(source, one), source.replace('1', '2'));
  assert.deepEqual(
    mutantsOf('x.ts', source).map(({ line, change }) => [line, change]),
    [
      [2, '1 → 2'],
      [4, 'a < 2 → a <= 2'],
      [4, 'a < 2 → a >= 2'],
      [5, '2 → 3'],
    ],
  );
});

test('a source that cannot be read is said so', () => {
  assert.throws(() => mutantsOf('x.ts', 'const = 1;'), /^Error: x\.ts: /);
});

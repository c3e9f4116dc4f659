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
    'a conjunction, whose replacement by true is omitted',
    'if (a && b) g = h;',
    ['a && b → false', 'a && b → (a)', 'a && b → (b)'],
  ],
  ['a disjunction', 'if (a || !b) g = h;', ['a || !b → true', 'a || !b → (a)', 'a || !b → (!b)']],
  ['a default value', 'const c = a ?? b;', ['a ?? b → (a)']],
  ['not', 'const c = !a;', ['!a → (a)']],
  ['a conditional expression', 'const c = a ? b : d;', ['a → true', 'a → false']],
  [
    'an order of values that are never equal, of which only the sign counts',
    'const c = (a, b) => (a[1] < b ? -1 : 1);',
    ['a[1] < b → true', 'a[1] < b → false', '1 → 2'],
  ],
  [
    'an order of values that may be equal',
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
  ['concatenated texts', "const c = a + 'b';", ["'b' → ''"]],
  ['a sign', 'const c = -a;', ['-a → a']],
  ['a negative number', 'const c = -1;', ['1 → 2']],
  ['an order', 'const c = a < b ? -1 : 1;', ['a < b → true', 'a < b → false']],
  [
    'an order that handles equal values',
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
  ['an assignment of a default value', 'a ??= b;', ['a ??= b → a = b', 'a ??= b; → ;']],
  ['a call', 'f(a);', ['f(a); → ;']],
  ['an awaited call', 'await f();', ['await f(); → ;']],
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
  ['an object that spreads another', 'const c = { ...a, b };', ['...a, → (nothing)']],
  ['a filtered list', 'const c = a.filter(b).length;', ['a.filter(b) → a']],
  ['a list that is sorted in place', 'a.sort();', ['a.sort(); → ;']],
  ['some and every', 'const c = a.b?.some(d);', ['a.b?.some(d) → a.b?.every(d)']],
  ['the least', 'const c = Math.min(a, b);', ['Math.min(a, b) → Math.max(a, b)']],
  ['a method of every object', 'const c = a.toString();', []],
  [
    'an early return',
    'function f() { if (a) { return; } g(); if (b) h(); else return 3; return c; }',
    ['a → true', 'a → false', 'g(); → ;', 'b → true', 'b → false', 'h(); → ;', 'return 3; → ;', '3 → 4'],
  ],
  ['a boolean result', 'const f = (a): boolean => a.has(b);', ['a.has(b) → !(a.has(b))']],
  ['a boolean result in a block', 'function f(): a is B { return a; }', ['a → !(a)']],
  ['a function without a result type', 'const f = (a) => a.has(b);', []],
  ['an error, whose message is not changed', "throw new Error('no');", ["throw new Error('no'); → ;"]],
  ['an error that another function creates', "const c = invalidError('no');", []],
  ['a line of the log', "this.#log.warn('no');", ["this.#log.warn('no'); → ;"]],
  ['types', "type A = 'a' | 1; interface B { c: [2] } const d = a as 'e';", []],
  ['imports and exports', "import { a } from 'a'; export * from 'b'; export { c } from 'd';", []],
  ['a case', "switch (a) { case 'b': break; }", ["'b' → ''", 'break; → ;']],
  ['a constructor', 'class A extends B { constructor() { super(); } }', []],
  ['the name of an error class', "class E extends TypeError { name = 'E' }", []],
  ['the name of another class', "class E extends F { name = 'E' }", ["'E' → ''"]],
  [
    'numbers in the message of an error',
    `f(new RangeError(\`\${a + 1} of \${b ?? c}\`));`,
    [`f(new RangeError(\`\${a + 1} of \${b ?? c}\`)); → ;`],
  ],
  ['a log statement above level debug', "log.debug('a', { b }); log.info('a');", ["log.info('a'); → ;"]],
];

describe('mutants of', () => {
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

test('a source that cannot be parsed is reported', () => {
  assert.throws(() => mutantsOf('x.ts', 'const = 1;'), /^Error: x\.ts: /);
});

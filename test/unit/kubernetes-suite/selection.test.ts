import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Recorded } from '../../kubernetes-suite/results.ts';
import { focusOf, select, testsIn, type Wanted } from '../../kubernetes-suite/selection.ts';

const wanted: Wanted = { nodes: 1, again: false, failed: false };
const [good, bad, fresh, twoNodes] = [
  '[sig-a] good',
  '[sig-a] bad',
  '[sig-b] fresh',
  '[sig-architecture] Conformance Tests should have at least two untainted nodes',
] as const;
const names = [good, bad, fresh, twoNodes];
const result = (name: string, state: Recorded['state']): [string, Recorded] => [
  name,
  { name, state, seconds: 1, message: '', build: 'x' },
];
const results = new Map([result(good, 'passed'), result(bad, 'failed')]);

const table: [what: string, change: Partial<Wanted>, run: string[], done: string[], left: string[]][] = [
  ['the tests without a result', {}, [fresh], [good, bad], [twoNodes]],
  ['all again', { again: true }, [good, bad, fresh], [], [twoNodes]],
  ['the failed tests', { failed: true }, [bad], [good], [twoNodes]],
  ['the matching tests', { pattern: /^\[sig-b\]/ }, [fresh], [], []],
  ['the tests for two nodes', { nodes: 2 }, [fresh, twoNodes], [good, bad], []],
];
for (const [what, change, run, done, left] of table) {
  test(`a run has ${what}`, () => {
    const selection = select(names, results, { ...wanted, ...change });
    assert.deepEqual([selection.run, selection.done, [...selection.left.keys()]], [run, done, left]);
    for (const reason of selection.left.values()) assert.notEqual(reason, '');
  });
}

test('the conformance tests are read from the list of the suite, without duplicates', () => {
  const listing = `Names that can be used:
    test/e2e/x.go:12: [sig-b] X should do [Conformance]
    test/e2e/x.go:12: [sig-b] X should do [Conformance]
    test/e2e/x.go:14: [sig-a] Y does [NodeConformance] [Conformance]
    test/e2e/x.go:19: [sig-a] Z does [Slow]
`;
  assert.deepEqual(testsIn(listing, 'conformance'), [
    '[sig-a] Y does [NodeConformance]',
    '[sig-b] X should do',
  ]);
  assert.deepEqual(testsIn(listing, 'others'), ['[sig-a] Z does [Slow]']);
});

test('the focus expression selects exactly the given tests, with any characters in their names', () => {
  const strange = '[sig-a] should *not* be (here|there). $PATH + "x"';
  const focus = new RegExp(focusOf([strange, good], 'conformance'));
  assert.match(`Kubernetes e2e suite ${strange} [Conformance]`, focus);
  assert.match(`Kubernetes e2e suite ${good} [Conformance]`, focus);
  assert.doesNotMatch(`Kubernetes e2e suite ${good} and more [Conformance]`, focus);
  assert.doesNotMatch(`Kubernetes e2e suite [sig-x] ${good} [Conformance]`, focus);
  assert.doesNotMatch(`Kubernetes e2e suite [sig-a] should not be here. [Conformance]`, focus);
  const others = new RegExp(focusOf([`${good} [Slow]`], 'others'));
  assert.match(`Kubernetes e2e suite ${good} [Slow]`, others);
  assert.doesNotMatch(`Kubernetes e2e suite ${good} [Slow] [Serial]`, others);
});

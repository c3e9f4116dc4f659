/** A user who grants rights must have all of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PolicyRule } from '../../../src/api/rbac/v1/types.gen.ts';
import { compactRules, coverageOf, ruleInWords } from '../../../src/apimachinery/policy-rules.ts';
import { inOneGo } from '../../../src/apimachinery/steps.ts';

const on = (verbs: string, resources: string, names?: string, groups = ['']): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: groups,
  resources: resources.split(' '),
  ...(names !== undefined && { resourceNames: names.split(' ') }),
});
const paths = (verbs: string, urls: string): PolicyRule => ({
  verbs: verbs.split(' '),
  nonResourceURLs: urls.split(' '),
});
const coverage = (...rules: Parameters<typeof coverageOf>) => inOneGo(coverageOf(...rules));
const missing = (held: readonly PolicyRule[], wanted: readonly PolicyRule[]) =>
  compactRules(coverage(held, wanted).missing).map(ruleInWords).sort();

const all = [on('*', '*', undefined, ['*']), paths('*', '*')];

const table: readonly [
  title: string,
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
  string[],
][] = [
  ['an empty request is covered by no rules', [], [], []],
  [
    'no rules cover no request',
    [],
    [on('get', 'pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    'a rule covers itself and parts of itself',
    [on('get list', 'pods secrets')],
    [on('list', 'pods'), on('get list', 'secrets pods')],
    [],
  ],
  [
    'several rules together cover a rule',
    [on('get', 'pods'), on('list', 'pods'), on('get list', 'secrets')],
    [on('get list', 'pods secrets')],
    [],
  ],
  [
    'missing rights are listed by resource',
    [on('get', 'pods')],
    [on('get list watch', 'pods secrets')],
    [
      '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}',
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}',
    ],
  ],
  ['all rights cover everything', all, [on('escalate', 'x/y', 'n', ['g']), paths('get', '/x')], []],
  [
    'all single verbs do not cover *',
    [on('get list watch create update patch delete deletecollection', '*', undefined, ['*'])],
    [on('*', 'pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ],
  [
    'one resource does not cover * of resources',
    [on('get', 'pods */scale')],
    [on('get', '*')],
    ['{APIGroups:[""], Resources:["*"], Verbs:["get"]}'],
  ],
  [
    '*/scale covers each scale of the rule',
    [on('get', '*/scale')],
    [on('get', 'deployments/scale */scale')],
    [],
  ],
  [
    '*/scale gives no right to the object',
    [on('get', '*/scale')],
    [on('get', 'deployments')],
    ['{APIGroups:[""], Resources:["deployments"], Verbs:["get"]}'],
  ],
  [
    'one scale does not cover */scale',
    [on('get', 'deployments/scale')],
    [on('get', '*/scale')],
    ['{APIGroups:[""], Resources:["*/scale"], Verbs:["get"]}'],
  ],
  [
    'one group does not cover * of groups',
    [on('get', 'pods')],
    [on('get', 'pods', undefined, ['*'])],
    ['{APIGroups:["*"], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    'an additional verb on the same resource is missing',
    [on('get', 'pods')],
    [on('get delete', 'pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}'],
  ],
  [
    'another group of the same resource is missing',
    [on('get', 'pods')],
    [on('get', 'pods', undefined, ['', 'x'])],
    ['{APIGroups:["x"], Resources:["pods"], Verbs:["get"]}'],
  ],
  ['*/scale covers one scale', [on('get', '*/scale')], [on('get', 'deployments/scale')], []],
  [
    'a wildcard of subresources matches whole names only',
    [on('get', '*s')],
    [on('get', 'pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    'missing groups, names and paths are listed separately',
    [],
    [
      on('get', 'pods', 'a b'),
      on('list', 'pods', 'a'),
      on('get', 'pods', undefined, ['x']),
      paths('get put', '/x'),
    ],
    [
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
      '{APIGroups:["x"], Resources:["pods"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
      '{NonResourceURLs:["/x"], Verbs:["put"]}',
    ],
  ],
  [
    'one name does not cover all names',
    [on('get', 'pods', 'a')],
    [on('get', 'pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  ['all names cover each name', [on('get', 'pods')], [on('get', 'pods', 'a b')], []],
  [
    'several rules together cover several names',
    [on('get', 'pods', 'a'), on('get', 'pods', 'b')],
    [on('get', 'pods', 'a b')],
    [],
  ],
  [
    'another name is missing',
    [on('get', 'pods', 'a')],
    [on('get', 'pods', 'a b')],
    ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  [
    'a path with a star covers the paths below it',
    [paths('get', '/x/*')],
    [paths('get', '/x/ /x/y /x/y*')],
    [],
  ],
  [
    '/x/* gives no right to /x',
    [paths('get', '/x/*')],
    [paths('get', '/x')],
    ['{NonResourceURLs:["/x"], Verbs:["get"]}'],
  ],
  [
    'one path does not cover a wildcard of paths',
    [paths('get', '/x')],
    [paths('get', '/x*')],
    ['{NonResourceURLs:["/x*"], Verbs:["get"]}'],
  ],
  [
    'rules of resources cover no path',
    [on('*', '*', undefined, ['*'])],
    [paths('get', '/x')],
    ['{NonResourceURLs:["/x"], Verbs:["get"]}'],
  ],
  [
    'rules of paths cover no resource',
    [paths('*', '*')],
    [on('get', 'pods')],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  ['a rule without effect needs no rights', [], [on('get', 'pods', undefined, [])], []],
];

describe('a role is covered', () => {
  for (const [title, held, wanted, expected] of table)
    test(title, () => assert.deepEqual(missing(held, wanted), expected));
});

test('rules that expand to too many combinations are not expanded, and count as not covered', () => {
  const words = (letter: string) => Array.from({ length: 3000 }, (_, i) => `${letter}${i}`).join(' ');
  const huge = on(words('v'), words('r'), words('n'));
  const { missing: some, tooMany } = coverage([on('get', 'pods')], [huge]);
  assert.equal(tooMany, true);
  assert.ok(some.length > 0);
  assert.equal(coverage(all, [huge]).tooMany, false, 'who has everything needs no count');
});

test('beginnings of paths that would need too many comparisons are not compared, and count as not covered', () => {
  const urls = (letter: string) => Array.from({ length: 3000 }, (_, i) => `/${letter}${i}*`).join(' ');
  assert.equal(coverage([paths('get', urls('a'))], [paths('get', urls('b'))]).tooMany, true);
  assert.deepEqual(coverage(all, [paths('get', urls('b'))]), { missing: [], tooMany: false });
});

test('a repeated word counts once', () => {
  const words = (word: string) => Array(5000).fill(word).join(' ');
  const { missing: some, tooMany } = coverage([], [on(words('get'), words('pods'), words('a'))]);
  assert.equal(tooMany, false);
  assert.equal(some.length, 1);
});

const each = (letter: string, count: number, of: (word: string) => PolicyRule) =>
  Array.from({ length: count }, (_, i) => of(`${letter}${i}`));

const multiplying: readonly [title: string, held: readonly PolicyRule[], wanted: readonly PolicyRule[]][] = [
  [
    'rules with one word',
    [...each('h', 4000, (name) => on('get', 'pods', name)), on('get', 'pods')],
    each('w', 4000, (name) => on('get', 'pods', name)),
  ],
  [
    'rules of a few words',
    [...each('h', 4000, (name) => on('get', 'pods', name)), on('get list', 'pods')],
    each('w', 4000, (name) => on('get list', 'pods', name)),
  ],
  [
    'paths that end in a star',
    [
      paths(
        'get',
        each('/x/h', 4000, (url) => paths('get', `${url}*`))
          .flatMap((one) => one.nonResourceURLs ?? [])
          .join(' '),
      ),
      paths('get', '/x/*'),
    ],
    [
      paths(
        'get',
        `${each('/x/w', 4000, (url) => paths('get', url))
          .flatMap((one) => one.nonResourceURLs ?? [])
          .join(' ')} /y`,
      ),
    ],
  ],
];

for (const [title, held, wanted] of multiplying)
  test(`${title} are not compared with as many others in one step, and at most up to a limit`, () => {
    const steps = coverageOf(held, wanted);
    let taken = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) taken++;
    assert.ok(taken > 50, `${taken} steps`);
    assert.equal(step.value.tooMany, true);
  });

test('a few hundred rules are compared with as many others', () => {
  const names = each('w', 500, (name) => on('get', 'pods', name));
  assert.deepEqual(coverage([...each('h', 500, (name) => on('list', 'pods', name)), ...names], names), {
    missing: [],
    tooMany: false,
  });
});

/** Results for readers: the table and the page of the documentation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causeOf } from '../../kubernetes-suite/causes.ts';
import { conformanceDoc } from '../../kubernetes-suite/conformance-doc.ts';
import type { Recorded } from '../../kubernetes-suite/results.ts';
import { counts, tableOf } from '../../kubernetes-suite/table.ts';

const names = [
  '[sig-a] one *works*',
  '[sig-a] two',
  '[sig-b] three',
  '[sig-b] four',
  '[sig-b] five',
  '[sig-apps] Daemon set [Serial] should rollback without unnecessary restarts',
];
const record = (name: string, state: Recorded['state'], message = ''): [string, Recorded] => [
  name,
  { name, state, seconds: 1, message, build: '0.1.0+gabc' },
];
const results = new Map([
  record('[sig-a] one *works*', 'passed'),
  record('[sig-a] two', 'failed', 'the server could not find the requested resource (post quotas.x.io)'),
  record('[sig-b] three', 'failed', 'something else'),
  record('[sig-b] four', 'skipped', 'asks for two nodes'),
]);

test('tests are counted by area; skipped tests and tests without a result did not run', () => {
  assert.deepEqual(counts(names, results), [
    { area: 'sig-a', passed: 1, failed: 1, notRun: 0 },
    { area: 'sig-apps', passed: 0, failed: 0, notRun: 1 },
    { area: 'sig-b', passed: 0, failed: 1, notRun: 2 },
    { area: 'all', passed: 1, failed: 2, notRun: 3 },
  ]);
});

test('the table has each failure with its message', () => {
  assert.equal(
    tableOf(names.slice(2, 5), results),
    `failed  [sig-b] three
          something else

       passed  failed  not run
sig-b       0       1        2
all         0       1        2
`,
  );
});

const causes: [name: string, message: string, cause: string | undefined][] = [
  ['a', 'the server could not find the requested resource (post jobs.batch)', 'jobs are not served'],
  [
    'a',
    'kubectl: error: no matches for kind "ReplicationController" in version "v1"',
    'replicationcontrollers are not served',
  ],
  ['a', 'expected RuntimeClass API group/version, got []', 'runtimeclasses are not served'],
  ['a', 'error: the server doesn\'t have a resource type "rc"', 'replicationcontrollers are not served'],
  [
    '[sig-apps] Job should allow to use the pod failure policy on exit code to fail the job early',
    'timed out',
    'its pods are privileged, which fails where Docker itself has not all rights of the machine',
  ],
  ['a', 'timed out', undefined],
];
for (const [name, message, cause] of causes) {
  test(`the cause of "${name}: ${message}" is ${cause ?? 'unknown'}`, () => {
    assert.equal(causeOf({ name, message, state: 'failed', seconds: 1 }), cause);
  });
}

test('the page has the numbers, and names every test that did not pass with its reason', () => {
  const page = conformanceDoc({ suiteVersion: '1.32.5', nodes: 1, names, results });
  const parts = new Map(
    page.split(/^(?=## )/m).map((part) => [part.slice(0, part.indexOf('\n')), part] as const),
  );
  assert.match(page, /Of 6 conformance tests\n\*\*1 passed\*\*, 2 failed, and 3 did not run/);
  assert.match(parts.get('## By area') ?? '', /\| sig-b \| 0 \| 1 \| 2 \|\n/);
  assert.match(
    parts.get('## Failed') ?? '',
    /Quotas are not served \(1\):\n\n- \\\[sig-a\\\] two\n\nNot yet examined \(1\):\n\n- \\\[sig-b\\\] three\n/,
  );
  const notRun = parts.get('## Not run') ?? '';
  for (const [name, reason] of [
    ['four', 'The suite itself skips them'],
    ['five', 'No result yet'],
    ['rollback without', 'Asks for two nodes'],
  ] as const)
    assert.ok(notRun.indexOf(reason) >= 0 && notRun.indexOf(name) > notRun.indexOf(reason), name);
  assert.ok(!page.includes('works'), 'what passed is counted, not named');
  assert.ok(page.split('\n').every((line) => line === line.trimEnd()));
});

test('the page lists results that differed on two nodes, if the tests ran there', () => {
  const pageOf = (onTwoNodes?: typeof results) =>
    conformanceDoc({ suiteVersion: '1', nodes: 1, names, results, onTwoNodes });
  const page = pageOf(
    new Map([...results, record('[sig-b] three', 'passed'), record('[sig-b] four', 'failed', 'x')]),
  );
  const [, part = ''] = /^## On two nodes\n\n([^#]*)/m.exec(page) ?? [];
  assert.match(part, /`dist\/minik8s`, 0\.1\.0\+gabc, .*:\n\*\*2 passed\*\*, 2 failed, and 2 did not run\./);
  assert.deepEqual(part.match(/^- .*$/gm), [
    '- \\[sig-b\\] three: passed (below: failed)',
    '- \\[sig-b\\] four: failed (below: did not run)',
  ]);
  assert.match(pageOf(results), /Every test had the same result as in the lists below\./);
  assert.ok(!pageOf().includes('two nodes:'));
  assert.ok(!pageOf(new Map()).includes('## On two nodes'));
});

test('the page has a section for each other version with results, with its own counts and lists', () => {
  const newer = {
    ...{ suiteVersion: '1.37.2', nodes: 1, names: ['[sig-a] one *works*', '[sig-c] new', '[sig-c] newer'] },
    results: new Map([record('[sig-a] one *works*', 'passed'), record('[sig-c] new', 'failed', 'x')]),
  };
  const main = { suiteVersion: '1.32.5', nodes: 1, names, results };
  const page = conformanceDoc(main, [newer, { ...newer, suiteVersion: '1.36.3', results: new Map() }]);
  const [before = '', after = ''] = page.split('## Kubernetes 1.37.2\n');
  assert.equal(before.trimEnd(), conformanceDoc(main).trimEnd());
  assert.match(after, /Of 3 conformance tests \*\*1 passed\*\*, 1 failed, and 1 did not run\./);
  assert.match(after, /\| sig-c \| 0 \| 1 \| 1 \|\n/);
  assert.match(after, /### Failed with 1\.37\.2\n\nNot yet examined \(1\):\n\n- \\\[sig-c\\\] new\n/);
  assert.match(after, /### Not run with 1\.37\.2\n\nNo result yet \(1\):\n\n- \\\[sig-c\\\] newer\n/);
  assert.ok(!page.includes('1.36.3'), 'a version without results has no section');
});

test('no page is made without results', () => {
  assert.throws(
    () => conformanceDoc({ suiteVersion: '1', nodes: 1, names, results: new Map() }),
    /no result to write/,
  );
});

test('the page has a section for tests outside conformance, if any ran', () => {
  const others = new Map([
    record('[sig-a] one [Slow]', 'passed'),
    record('[sig-a] two [Slow]', 'failed', 'no [x]'),
    record('[sig-a] three [Slow]', 'skipped', 'no cloud'),
  ]);
  const page = conformanceDoc({ suiteVersion: '1', nodes: 1, names, results, others });
  const [, part = ''] = /^## Tests that are not conformance tests\n\n([^#]*)/m.exec(page) ?? [];
  assert.match(part, /\*\*1 passed\*\*, 1 failed, and 1 were skipped/);
  assert.deepEqual(part.match(/^- .*$/gm), [
    '- \\[sig-a\\] three \\[Slow\\]: skipped: no cloud',
    '- \\[sig-a\\] two \\[Slow\\]: failed: no \\[x\\]',
  ]);
  const without = conformanceDoc({ suiteVersion: '1', nodes: 1, names, results, others: new Map() });
  assert.ok(!without.includes('## Tests that'));
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SuiteLog, testName } from '../../kubernetes-suite/suite-log.ts';

const divider = '------------------------------';
const place = '/go/pkg/mod/k8s.io/kubernetes@v1.32.5/test/e2e/storage/x.go:12';

/** Log of several processes. */
const passed = [
  '• [2.345 seconds]',
  '[sig-storage] Things should be there [NodeConformance] [Conformance] [sig-storage, Conformance]',
  place,
  '',
  '  Timeline >>',
  '  STEP: making one @ 11/22/26 14:00:00.1',
  '  [FAILED] this is what a pod printed',
  '  << Timeline',
];
const failed = [
  '• [FAILED] [120.499 seconds]',
  '[sig-network] Wires [It] should carry [Conformance] [sig-network, Conformance]',
  place,
  '',
  '  Timeline >>',
  '  STEP: asking @ 11/22/26 14:00:00.1',
  '  [FAILED] in [It] - /go/x.go:7 @ 11/22/26 14:00:01.1',
  '  << Timeline',
  '',
  '  [FAILED] no answer from 0xc000abcdef',
  '  Expected',
  '      <int>: 1',
  '  In [It] at: /go/x.go:7 @ 11/22/26 14:00:01.1',
  '',
  '  There were additional failures detected.',
  '    [FAILED] a namespace did not go',
];
/** Log of a single process: the name before the test runs, the verdict last. */
const alone = [
  '[sig-apps] Sets [Serial] should count [Conformance] [sig-apps, Serial, Conformance]',
  place,
  '  STEP: counting @ 11/22/26 14:00:00.1',
  '• [0.501 seconds]',
];
const skipped = [
  'S [SKIPPED] [0.702 seconds]',
  '[sig-node] Nodes [It] should be two [Conformance] [sig-node, Conformance]',
  place,
  '',
  '  [SKIPPED] asks for two nodes',
  '  In [It] at: /go/x.go:9 @ 11/22/26 14:00:01.1',
];
const text = (...blocks: string[][]) =>
  `${blocks.map((block) => `${[divider, ...block].join('\n')}\n`).join('')}${divider}\n`;

test('passed, failed and skipped tests are read for any division of the log', () => {
  const log = text(['Running Suite: all of it'], passed, failed, alone, skipped);
  const expected = [
    {
      name: '[sig-storage] Things should be there [NodeConformance]',
      state: 'passed',
      seconds: 2,
      message: '',
    },
    {
      name: '[sig-network] Wires should carry',
      state: 'failed',
      seconds: 120,
      message: 'no answer from 0x… Expected <int>: 1',
    },
    { name: '[sig-apps] Sets [Serial] should count', state: 'passed', seconds: 1, message: '' },
    { name: '[sig-node] Nodes should be two', state: 'skipped', seconds: 1, message: 'asks for two nodes' },
  ];
  for (const size of [1, 7, 100, log.length]) {
    const reader = new SuiteLog('conformance');
    const results = [];
    for (let at = 0; at < log.length; at += size) results.push(...reader.read(log.slice(at, at + size)));
    assert.deepEqual(results, expected, `in pieces of ${size}`);
  }
});

test('a test that was interrupted has no result, and neither has one under way', () => {
  const interrupted = ['• [INTERRUPTED] [3.000 seconds]', ...failed.slice(1)];
  const reader = new SuiteLog('conformance');
  assert.deepEqual(reader.read(text(interrupted, alone.slice(0, 3))), []);
  assert.deepEqual(reader.read(passed.join('\n')), []);
});

test('a test that panicked or timed out has failed, with its message', () => {
  for (const bad of ['PANICKED', 'TIMEDOUT']) {
    const block = [
      `• [${bad}] [1.000 seconds]`,
      ...failed.slice(1, 3),
      `  [${bad}] it fell`,
      '  In [It] at: /x.go:1',
    ];
    const [result] = new SuiteLog('conformance').read(text(block));
    assert.deepEqual([result?.state, result?.message], ['failed', 'it fell'], bad);
  }
});

test('a test whose process ended at once has failed without a message', () => {
  const [result] = new SuiteLog('conformance').read(text([...failed.slice(0, 3)]));
  assert.deepEqual([result?.state, result?.message], ['failed', 'no message']);
});

test('the message of a failed kubectl is its own output, not its arguments', () => {
  const said =
    '  [FAILED] error running /x/kubectl --kubeconfig=/tmp/y get a:\n  Command stdout:\n\n  stderr:\n  error: no a';
  const [result] = new SuiteLog('conformance').read(text([...failed.slice(0, 3), ...said.split('\n')]));
  assert.equal(result?.message, 'kubectl: error: no a');
});

test('a long message is cut', () => {
  const long = [...failed.slice(0, 3), `  [FAILED] ${'word '.repeat(1000)}`];
  const [result] = new SuiteLog('conformance').read(text(long));
  assert.equal(result?.message.length, 401);
});

test('only a line that begins as a conformance test does has a name', () => {
  const names: [string, string | undefined][] = [
    ['[sig-a] X should [It] do [Conformance] [sig-a]', '[sig-a] X should do'],
    ['[sig-a] X [BeforeEach] should do [Conformance]', '[sig-a] X should do'],
    ['[sig-a] X [DeferCleanup (Each)] should do [Conformance]', '[sig-a] X should do'],
    ['[sig-a] X should do [NodeConformance] [sig-a]', undefined],
    ['  [sig-a] X should do [Conformance]', undefined],
  ];
  for (const [line, name] of names) assert.equal(testName(line, 'conformance'), name, line);
});

test('additions of a report to other names are removed', () => {
  const names: [string, string | undefined][] = [
    ['[sig-a] X should [It] do [Slow] [sig-a, Slow]', '[sig-a] X should do [Slow]'],
    [
      '[sig-a] X should do [NodeConformance] [Feature:Y]',
      '[sig-a] X should do [NodeConformance] [Feature:Y]',
    ],
    ['[sig-a] X should do', '[sig-a] X should do'],
    ['[sig-a] X should do [Conformance]', undefined],
  ];
  for (const [line, name] of names) assert.equal(testName(line, 'others'), name, line);
});

test('the last words of a process that ended in the middle of a test are kept', () => {
  const reader = new SuiteLog('conformance');
  assert.equal(reader.crash, undefined);
  assert.deepEqual(
    reader.read(`${text(alone.slice(0, 3))}panic: \x1b[1msend on a closed channel\x1b[0m\n\ngoroutine 7\n`),
    [],
  );
  assert.equal(reader.crash, 'panic: send on a closed channel');
});

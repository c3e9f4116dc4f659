import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import { exitCodeOf } from '../../../../src/cli/streaming/command-outcome.ts';
import { hostPort, planAddresses, planPorts } from '../../../../src/cli/streaming/port-forward-plan.ts';

const pod = {
  metadata: { name: 'web' },
  spec: { containers: [{ ports: [{ name: 'http', containerPort: 8080 }] }] },
};
const service = {
  metadata: { name: 'front' },
  spec: {
    clusterIP: '10.96.0.9',
    ports: [
      { name: 'web', port: 80, targetPort: 'http' },
      { name: 'raw', port: 81, targetPort: 9000 },
      { name: 'same', port: 82 },
      { name: 'lost', port: 83, targetPort: 'gone' },
    ],
  },
};
const headless = { ...service, spec: { ...service.spec, clusterIP: 'None' } };

const planned: [spec: string, of: object | undefined, local: number, remote: number][] = [
  ['80', undefined, 80, 80],
  ['8000:80', undefined, 8000, 80],
  [':80', undefined, 0, 80],
  ['0:80', undefined, 0, 80],
  ['http', undefined, 8080, 8080],
  ['1:http', undefined, 1, 8080],
  ['80', service, 80, 8080],
  ['web', service, 80, 8080],
  [':web', service, 0, 8080],
  ['5000:81', service, 5000, 9000],
  ['82', service, 82, 82],
  ['81', headless, 81, 81],
];
for (const [spec, of, local, remote] of planned) {
  const owner = of === undefined ? 'pod' : of === headless ? 'headless Service' : 'Service';
  test(`${spec} of a ${owner} forwards local port ${local} to port ${remote} of the pod`, () => {
    assert.deepEqual(planPorts([spec], pod, of as typeof service | undefined), [{ local, remote }]);
  });
}

const refused: [spec: string, of: typeof service | undefined, message: string | RegExp, name?: string][] = [
  ['1:2:3', undefined, /invalid port format '1:2:3'/, 'UsageError'],
  ['x:80', undefined, /error parsing local port 'x'/, 'UsageError'],
  ['70000', undefined, /error parsing remote port '70000'/, 'UsageError'],
  ['80:', undefined, /error parsing remote port ''/, 'UsageError'],
  ['-1', undefined, /'-1'/],
  ['0', undefined, 'remote port must be > 0', 'UsageError'],
  ['none', undefined, "Pod 'web' does not have a named port 'none'"],
  ['99', service, 'Service front does not have a service port 99'],
  ['none', service, "Service 'front' does not have a named port 'none'"],
  ['83', service, "Pod 'web' does not have a named port 'gone'"],
];
for (const [spec, of, message, name] of refused) {
  test(`port ${spec} is rejected`, () => {
    assert.throws(() => planPorts([spec], pod, of), { message, ...(name && { name }) });
  });
}

test('localhost is a group of two addresses; every other address is a separate group', () => {
  const plan = (...words: string[]) => planAddresses(words, (word) => isIP(word) !== 0);
  assert.deepEqual(plan(), [['127.0.0.1', '::1']]);
  assert.deepEqual(plan('localhost', '10.0.0.1', '10.0.0.1'), [['127.0.0.1', '::1'], ['10.0.0.1']]);
  assert.throws(() => plan('host'), { name: 'UsageError', message: /host is not a valid IP/ });
  assert.deepEqual([hostPort('::1', 80), hostPort('10.0.0.1', 80)], ['[::1]:80', '10.0.0.1:80']);
});

test('the outcome of a command is its exit code, or why it could not be run', () => {
  const failure = (reason: string, message: string, causes: object[] = []) =>
    JSON.stringify({ status: 'Failure', reason, message, details: { causes } });
  assert.equal(exitCodeOf('{"metadata":{},"status":"Success"}'), 0);
  const exited = [{ reason: 'ExitCode', message: '3' }];
  assert.equal(exitCodeOf(failure('NonZeroExitCode', 'exit status 3', exited)), 3);
  assert.throws(() => exitCodeOf(failure('InternalError', 'no such program')), {
    message: 'no such program',
  });
  assert.throws(() => exitCodeOf(failure('NonZeroExitCode', 'killed')), { message: 'killed' });
  assert.throws(() => exitCodeOf('plain text'), /does not say how the command ended: plain text/);
});

/** `ctl events` beside `kubectl events` 1.32, on one server; and its output for new events. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseYaml } from '../../../src/apimachinery/yaml.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const day = 86_400_000;
/** Returns the time `days` days and one and a half hours ago, so that both tools print the same age. */
const ago = (days: number) =>
  new Date(Date.now() - days * day - 5_400_000).toISOString().replace(/\.\d+Z$/, 'Z');
const micro = (days: number) => ago(days).replace('Z', '.123456Z');

const about = (kind: string, name: string, namespace = 'default', apiVersion = 'v1') => ({
  involvedObject: { kind, name, namespace, apiVersion },
});

const events = (namespace: string) => [
  {
    metadata: { name: 'counted' },
    ...about('Pod', 'web', namespace),
    ...{ type: 'Warning', reason: 'BackOff', message: ' Back-off restarting\n', count: 7 },
    ...{ firstTimestamp: ago(9), lastTimestamp: ago(3) },
  },
  {
    metadata: { name: 'once' },
    ...about('Deployment', 'web', namespace, 'apps/v1'),
    ...{ type: 'Normal', reason: 'ScalingReplicaSet', message: 'Scaled up', count: 1 },
    ...{ firstTimestamp: ago(5), lastTimestamp: ago(5) },
  },
  {
    metadata: { name: 'series' },
    ...about('Pod', 'api', namespace),
    ...{ type: 'Warning', reason: 'FailedScheduling', message: '0/1 nodes', action: 'Scheduling' },
    ...{ eventTime: micro(7), reportingComponent: 'default-scheduler', reportingInstance: 'x' },
    series: { count: 4, lastObservedTime: micro(4) },
  },
  {
    metadata: { name: 'odd' },
    ...about('Pod', 'web', namespace),
    ...{ reason: 'Odd\u001b[2J', message: 'no times\rat all' },
  },
];

const withoutNulls = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, part) => (part === null ? undefined : part)));

describe('ctl events', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;

  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'empty' } });
    for (const namespace of ['default', 'other'])
      for (const event of events(namespace)) {
        const answer = await server.call('POST', `/api/v1/namespaces/${namespace}/events`, event);
        assert.equal(answer.status, 201, answer.text);
      }
  });
  after(() => server.stop());

  for (const args of [
    'events',
    'events -n other',
    'events -n empty',
    'events --no-headers',
    'events --types=Warning',
    'events --types=warning,NORMAL',
    'events --for pod/web',
    'events --for deployment/web',
    'events --for deploy/nope',
    'events -n empty --for pod/web -o json',
    'events -o jsonpath={.items[*].reason}',
    'events --chunk-size=1',
    'events --types=Odd',
    'events --for web',
    'events --for a/b/c',
    'events --for nosuch/x',
  ]) {
    it(`${args} prints the same as kubectl`, async () => {
      const [ours, theirs] = await Promise.all([ctl(args.split(' ')), kubectl(args.split(' '))]);
      assert.equal(ours.out, theirs.out);
      assert.equal(ours.status, theirs.status);
      // Each tool has its own message for an error in the command line.
      if (ours.status === 0) assert.equal(ours.err, theirs.err);
      else assert.notEqual(ours.err, '');
    });
  }

  for (const args of ['events -o json', 'events -o yaml --types=Normal']) {
    it(`${args} prints the same objects as kubectl`, async () => {
      const [ours, theirs] = await Promise.all([ctl(args.split(' ')), kubectl(args.split(' '))]);
      // kubectl writes all fields of Go's type: an absent time is null.
      assert.deepEqual(parseYaml(ours.out).value, withoutNulls(parseYaml(theirs.out).value));
    });
  }

  it('-o name prints the names, which kubectl leaves empty', async () => {
    assert.equal((await ctl(['events', '-o', 'name', '--for', 'pod/api'])).out, 'event/series\n');
  });

  it('-A prints the events of all namespaces', async () => {
    const sorted = async (tool: Ctl) => (await tool(['events', '-A'])).out.split('\n').toSorted();
    assert.deepEqual(await sorted(ctl), await sorted(kubectl));
    assert.equal((await sorted(ctl)).length, 10);
  });

  it('-w prints new events and no deleted ones', async () => {
    const stop = new AbortController();
    const path = '/api/v1/namespaces/other/events';
    let step = 0;
    const { status, out } = await ctl(['events', '-n', 'other', '-w', '--types=Warning'], {
      signal: stop.signal,
      onOut: (text) => {
        const lines = text.split('\n').length - 1;
        if (lines >= 3 && step === 0) {
          step = 1;
          const [, , series] = events('other');
          void server
            .call('DELETE', `${path}/counted`)
            .then(() => server.call('POST', path, { ...events('other')[1], metadata: { name: 'normal' } }))
            .then(() =>
              server.call('POST', path, { ...series, metadata: { name: 'new' }, message: 'the new one' }),
            );
        }
        if (text.includes('the new one')) stop.abort();
      },
    });
    const lines = out.trimEnd().split('\n');
    assert.equal(lines.length, 4, out);
    assert.match(lines[0] ?? '', /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/);
    assert.match(lines[3] ?? '', /Warning +FailedScheduling +Pod\/api +the new one$/);
    assert.equal(status, 130);
  });
});

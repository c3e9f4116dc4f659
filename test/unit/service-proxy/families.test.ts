/** Transactions of a proxier whose cluster has Services of both families. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { ExecError } from '../../../src/os/exec.ts';
import { elementsOf } from '../../../src/service-proxy/elements.ts';
import { FamilyRules } from '../../../src/service-proxy/family-rules.ts';
import { localEndpoints } from '../../../src/service-proxy/health-ports.ts';
import { createProxier } from '../../../src/service-proxy/proxier.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { service, slice } from './proxier-rig.ts';

const dual = () => {
  const web = service('web', '10.96.0.1');
  return {
    ...web,
    spec: { ...web.spec, clusterIPs: ['10.96.0.1', 'fd00:10:96::1'], ipFamilies: ['IPv4', 'IPv6'] },
  } as typeof web;
};
const slices = () => [
  slice('web-4', 'web', ['10.244.0.2']),
  { ...slice('web-6', 'web', ['fd00:10:244::2']), addressType: 'IPv6' as const },
];

const refused = (args: readonly string[]) =>
  new ExecError({ file: 'nft', args, code: 1, stdout: '', stderr: 'refused' }, 'exit status 1');

test('a table that the kernel rejects keeps the table of the other family from nothing', async () => {
  const [clock, log, informers] = [new FakeClock(), new RecordingLogger(), new ScriptedInformers()];
  const written: string[] = [];
  let rejects = true;
  const proxier = createProxier({
    informers,
    nodeInformers: informers,
    exec: async (_, args, { input = '' } = {}) => {
      if (args[0] === 'list') return { stdout: '', stderr: '' };
      if (rejects && String(input).includes('table ip6')) throw refused(args);
      written.push(String(input));
      return { stdout: '', stderr: '' };
    },
    events: { event: () => undefined },
    rules: undefined,
    nodeName: 'n',
    nodeIP: '192.0.2.1',
    serviceCIDR: '10.96.0.0/16,fd00:10:96::/112',
    clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
    clock,
    log,
  });
  informers.put(serviceResource, dual());
  for (const one of slices()) informers.put(endpointSliceResource, one);
  const stop = new AbortController();
  const running = proxier.run(stop.signal);
  await clock.settle();
  assert.equal(written.length, 1);
  assert.match(
    written[0] ?? '',
    /add element ip minik8s-proxy services \{ 10\.96\.0\.1 \. tcp \. 80 : goto random-1 \}/,
  );
  assert.equal(log.of('error').length, 1);
  rejects = false;
  await clock.advance(100);
  await clock.settle();
  // The table of IPv4 is in the kernel, and is not written again.
  assert.equal(written.length, 2);
  assert.match(
    written[1] ?? '',
    /add element ip6 minik8s-proxy services \{ fd00:10:96::1 \. tcp \. 80 : goto random-1 \}/,
  );
  assert.match(written[1] ?? '', /ip6 daddr fd00:10:96::\/112 reject/);
  stop.abort();
  await running;
});

test('the rules of a family are written as a whole after a rejected change', async () => {
  const written: string[] = [];
  let rejects = false;
  const rules = new FamilyRules({
    family: 'IPv6',
    serviceCIDR: 'fd00:10:96::/112',
    exec: async (_, args, { input = '' } = {}) => {
      if (rejects && args[0] !== 'list') throw refused(args);
      if (args[0] !== 'list') written.push(String(input).split('\n', 1)[0] ?? '');
      return { stdout: '', stderr: '' };
    },
    log: new RecordingLogger(),
  });
  const put = (...ips: readonly string[]) =>
    rules.elements.replace(
      'web',
      elementsOf(
        [
          {
            addresses: ['fd00:10:96::1'],
            protocol: 'tcp',
            port: 80,
            endpoints: ips.map((ip) => ({ ip, port: 8080, local: false })),
            nodePort: undefined,
          },
        ],
        'IPv6',
      ),
    );
  put('fd00::2');
  await rules.apply();
  put('fd00::3');
  rejects = true;
  await assert.rejects(rules.apply(), /exit status 1/);
  rejects = false;
  await rules.apply();
  put('fd00::4');
  await rules.apply();
  assert.deepEqual(written, [
    'add table ip6 minik8s-proxy',
    'add table ip6 minik8s-proxy',
    'delete element ip6 minik8s-proxy endpoints { fd00:10:96::1 . tcp . 80 . 1291845632 }',
  ]);
});

test('a pod with addresses of two families is one local endpoint', () => {
  assert.equal(localEndpoints(slices(), 'n'), 1);
  assert.equal(localEndpoints([...slices(), slice('more', 'web', ['10.244.0.3'])], 'n'), 2);
  assert.equal(localEndpoints([], 'n'), 0);
});

test('the table of a family is written as a whole when a ServiceCIDR brings a range of it', async () => {
  const [clock, log, informers] = [new FakeClock(), new RecordingLogger(), new ScriptedInformers()];
  const written: string[] = [];
  let ranges: readonly string[] = [];
  let changed = () => {};
  const proxier = createProxier({
    informers,
    nodeInformers: informers,
    furtherRanges: {
      current: () => ranges,
      onChange(listener) {
        changed = listener;
      },
    },
    exec: async (_, args, { input = '' } = {}) => {
      if (args[0] === '-f') written.push(String(input));
      return { stdout: '', stderr: '' };
    },
    events: { event: () => undefined },
    rules: undefined,
    nodeName: 'n',
    nodeIP: '192.0.2.1',
    serviceCIDR: '10.96.0.0/16,fd00:10:96::/112',
    clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
    clock,
    log,
  });
  const stop = new AbortController();
  const running = proxier.run(stop.signal);
  await clock.settle();
  const before = written.length;
  ranges = ['203.0.113.0/24'];
  changed();
  await clock.settle();
  const added = written.slice(before);
  assert.equal(added.length, 1);
  for (const range of ['10.96.0.0/16', '203.0.113.0/24'])
    assert.ok(added[0]?.includes(`ip daddr ${range} reject`), range);
  ranges = [];
  changed();
  await clock.settle();
  assert.equal(written.length, before + 2);
  assert.doesNotMatch(written.at(-1) ?? '', /203\.0\.113\.0/);
  stop.abort();
  await running;
});

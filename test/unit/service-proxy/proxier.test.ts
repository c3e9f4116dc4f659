import assert from 'node:assert/strict';
import { beforeEach, describe, it, test } from 'node:test';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { removeServiceRules } from '../../../src/service-proxy/proxier.ts';
import { samplesOf } from '../../fixtures/samples-of.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { meta } from '../controllers/objects.ts';
import { failure } from './model-kernel.ts';
import {
  clock,
  errors,
  freshForEachTest,
  informers,
  kept,
  kernel,
  leads,
  log,
  proxier,
  put,
  running,
  service,
  slice,
  start,
  stop,
} from './proxier-rig.ts';

freshForEachTest();

describe('the rules in the kernel', () => {
  it('are made for the existing objects when the proxy starts', async () => {
    await put(service('web', '10.96.0.1'), slice('web-1', 'web', ['10.244.0.2', '10.244.0.3']));
    await start();
    assert.deepEqual(leads(), { '10.96.0.1': ['random-2', '10.244.0.2', '10.244.0.3'] });
    assert.equal(kernel.transactions.length, 1);
    assert.deepEqual(Object.keys(kernel.elements.hairpin ?? {}).length, 2, 'both run on this node');
  });

  it('replace the rules of an earlier run', async () => {
    await kernel.exec('nft', ['-f', '-'], {
      input: 'add table ip minik8s-proxy\nadd element ip minik8s-proxy endpoints { left : over }\n',
    });
    await start();
    assert.deepEqual(kernel.elements, {});
    assert.ok(kernel.table);
  });

  it('are written again after another program has deleted them, without a change of a Service', async () => {
    await put(service('web', '10.96.0.1'), slice('web-1', 'web', ['10.244.0.2', '10.244.0.3']));
    await start();
    const before = kernel.elements;
    kernel.table = undefined;
    for (const chain of ['prerouting', 'output', 'dispatch', 'postrouting', 'balance', 'forward'])
      assert.equal(kept.owns(`ip minik8s-proxy ${chain}`), true, chain);
    for (const chain of ['ip filter FORWARD', 'ip minik8s-proxy random-2', 'ip minik8s-network output'])
      assert.equal(kept.owns(chain), false, chain);
    kept.restore();
    await clock.settle();
    assert.deepEqual(kernel.elements, before);
    assert.deepEqual(leads(), { '10.96.0.1': ['random-2', '10.244.0.2', '10.244.0.3'] });
  });

  it('follow services and slices that are added, changed and removed', async () => {
    await start();
    await put(slice('web-1', 'web', ['10.244.0.2']));
    assert.deepEqual(leads(), {});
    await put(service('web', '10.96.0.1'));
    assert.deepEqual(leads(), { '10.96.0.1': ['random-1', '10.244.0.2'] });
    await put(slice('web-2', 'web', ['10.244.0.3']));
    assert.deepEqual(leads(), { '10.96.0.1': ['random-2', '10.244.0.2', '10.244.0.3'] });
    await put(service('web', '10.96.0.9'));
    assert.deepEqual(leads(), { '10.96.0.9': ['random-2', '10.244.0.2', '10.244.0.3'] });
    await put(slice('web-2', 'web', ['10.244.0.4']));
    assert.deepEqual(leads(), { '10.96.0.9': ['random-2', '10.244.0.2', '10.244.0.4'] });
    informers.remove(endpointSliceResource, 'default/web-1');
    await clock.settle();
    assert.deepEqual(leads(), { '10.96.0.9': ['random-1', '10.244.0.4'] });
    informers.remove(serviceResource, 'default/web');
    await clock.settle();
    assert.deepEqual(kernel.elements, {});
    assert.deepEqual(log.lines, []);
  });

  it('follow a slice from one service to another, and to none', async () => {
    await put(service('a', '10.96.0.1'), service('b', '10.96.0.2'), slice('s', 'a', ['10.244.0.2']));
    await start();
    await put(slice('s', 'b', ['10.244.0.2']));
    assert.deepEqual(leads(), { '10.96.0.2': ['random-1', '10.244.0.2'] });
    await put(service('undefined', '10.96.0.3'), slice('s', undefined, ['10.244.0.2']));
    assert.deepEqual(leads(), {});
  });

  it("use only slices of the Service's namespace", async () => {
    const other = slice('s', 'web', ['10.244.0.2']);
    await put(service('web', '10.96.0.1'), { ...other, metadata: { ...other.metadata, namespace: 'other' } });
    await start();
    assert.deepEqual(leads(), {});
  });

  it('stay unchanged while their objects do not change', async () => {
    await put(service('web', '10.96.0.1'), slice('web-1', 'web', ['10.244.0.2']));
    await start();
    const again = service('web', '10.96.0.1');
    await put({ ...again, metadata: { ...again.metadata, labels: { a: 'b' } } });
    await put(slice('other', undefined, ['10.244.0.9']));
    assert.equal(kernel.transactions.length, 1);
  });

  it('collect changes during a transaction for the next one', async () => {
    await start();
    const gate = Promise.withResolvers<void>();
    kernel.before = () => gate.promise;
    await put(service('a', '10.96.0.1'), slice('a-1', 'a', ['10.244.0.2']));
    await put(service('b', '10.96.0.2'), slice('b-1', 'b', ['10.244.0.3']));
    await put(slice('a-1', 'a', ['10.244.0.4']));
    kernel.before = () => {};
    gate.resolve();
    await clock.settle();
    assert.deepEqual(leads(), {
      '10.96.0.1': ['random-1', '10.244.0.4'],
      '10.96.0.2': ['random-1', '10.244.0.3'],
    });
    assert.equal(kernel.transactions.length, 3);
  });

  it('include a change during a transaction', async () => {
    await put(service('a', '10.96.0.1'), slice('a-1', 'a', ['10.244.0.2']));
    const gate = Promise.withResolvers<void>();
    kernel.before = () => gate.promise;
    await start();
    await put(slice('a-1', 'a', ['10.244.0.4']));
    gate.resolve();
    await clock.settle();
    assert.deepEqual(leads(), { '10.96.0.1': ['random-1', '10.244.0.4'] });
  });

  it('stay when the proxy stops', async () => {
    await put(service('web', '10.96.0.1'), slice('web-1', 'web', ['10.244.0.2']));
    await start();
    stop.abort();
    await running;
    await put(slice('web-1', 'web', ['10.244.0.3']));
    assert.deepEqual(leads(), { '10.96.0.1': ['random-1', '10.244.0.2'] });
  });
});

describe('a transaction that fails', () => {
  const refuse = () => {
    throw failure('nft', 1);
  };

  it('is followed by a transaction that writes everything', async () => {
    await put(service('a', '10.96.0.1'), slice('a-1', 'a', ['10.244.0.2']));
    await start();
    // Any change of the table by another program.
    kernel.table = undefined;
    await put(service('b', '10.96.0.2'), slice('b-1', 'b', ['10.244.0.3']));
    assert.deepEqual(kernel.elements, {});
    assert.deepEqual(errors(), [100]);
    await clock.advance(99);
    assert.equal(kernel.table, undefined);
    await clock.advance(1);
    assert.deepEqual(leads(), {
      '10.96.0.1': ['random-1', '10.244.0.2'],
      '10.96.0.2': ['random-1', '10.244.0.3'],
    });
    // The proxier's copy matches the table again from here on.
    await put(slice('b-1', 'b', ['10.244.0.4']));
    assert.deepEqual(leads()['10.96.0.2'], ['random-1', '10.244.0.4']);
    assert.doesNotMatch(kernel.transactions.at(-1) ?? '', /add table/);
  });

  it('is retried with growing delays, which a success resets', async () => {
    kernel.before = refuse;
    await start();
    await clock.advance(100 + 200 + 400);
    assert.deepEqual(errors(), [100, 200, 400, 800]);
    await clock.advance(600_000);
    assert.equal(errors().at(-1), 30_000);
    kernel.before = () => {};
    await clock.advance(30_000);
    assert.ok(kernel.table);
    kernel.before = refuse;
    await put(service('a', '10.96.0.1'), slice('a-1', 'a', ['10.244.0.2']));
    assert.equal(errors().at(-1), 100);
  });

  it('does not keep the proxy from stopping', async () => {
    kernel.before = refuse;
    await start();
    stop.abort();
    await running;
    assert.equal(errors().length, 1);
  });
});

describe('UDP flows to a deleted endpoint', () => {
  beforeEach(async () => {
    await put(service('dns', '10.96.0.53', 'UDP'), slice('dns-1', 'dns', ['10.244.0.2'], 'UDP'));
    await start();
    kernel.deletions.length = 0;
  });
  const removed = '-D -p udp --orig-dst 10.96.0.53 --orig-port-dst 80 --dst-nat 10.244.0.2';

  it('are deleted after the rules have changed', async () => {
    kernel.before = (file) => {
      if (file === 'conntrack') assert.deepEqual(leads(), { '10.96.0.53': ['random-1', '10.244.0.3'] });
    };
    await put(slice('dns-1', 'dns', ['10.244.0.3'], 'UDP'));
    assert.deepEqual(kernel.deletions, [removed]);
    await put(service('other', '10.96.0.2'), slice('other-1', 'other', ['10.244.0.9']));
    assert.equal(kernel.deletions.length, 1);
    assert.deepEqual(log.lines, []);
  });

  it('are deleted after the first successful transaction', async () => {
    kernel.table = undefined;
    await put(slice('dns-1', 'dns', ['10.244.0.3'], 'UDP'));
    assert.deepEqual(kernel.deletions, []);
    await clock.advance(100);
    assert.deepEqual(kernel.deletions, [removed]);
  });

  it('may be absent', async () => {
    kernel.before = (file) => {
      if (file === 'conntrack') throw failure(file, 1);
    };
    await put(slice('dns-1', 'dns', ['10.244.0.3'], 'UDP'));
    assert.deepEqual(log.lines, []);
  });

  for (const [what, error] of [
    ['conntrack fails', failure('conntrack', 2)],
    ['conntrack cannot be run', new Error('not found')],
  ] as const) {
    it(`are left with a warning when ${what}, and later changes of the rules take effect`, async () => {
      kernel.before = (file) => {
        if (file === 'conntrack') throw error;
      };
      await put(slice('dns-1', 'dns', ['10.244.0.3'], 'UDP'));
      assert.deepEqual(
        log.lines.map(({ level, fields }) => [level, fields.error]),
        [['warn', error.message]],
      );
      await put(slice('dns-1', 'dns', ['10.244.0.4'], 'UDP'));
      assert.deepEqual(leads(), { '10.96.0.53': ['random-1', '10.244.0.4'] });
    });
  }
});

test('no rule is written before the addresses of nodes are known, since Services may not use them', async () => {
  await put(service('web', '10.96.0.1'), slice('web-1', 'web', ['10.244.0.2']));
  const nodeInformers = new ScriptedInformers('unread');
  await start(nodeInformers);
  assert.equal(kernel.table, undefined);
  nodeInformers.informerFor({ ...nodeResource, part: 'metadata' }).sync();
  await clock.settle();
  assert.deepEqual(leads(), { '10.96.0.1': ['random-1', '10.244.0.2'] });
});

test('everything that the proxy created can be removed, repeatedly', async () => {
  await put(service('web', '10.96.0.1'), slice('web-1', 'web', ['10.244.0.2']));
  await start();
  for (const _ of ['there', 'gone']) {
    await removeServiceRules(kernel.exec);
    assert.equal(kernel.table, undefined);
  }
});

describe('the counters', () => {
  const told = () => samplesOf(proxier.families());
  const changedAt = (at: number, one: EndpointSlice): EndpointSlice => ({
    ...one,
    metadata: {
      ...one.metadata,
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': new Date(at).toISOString() },
    },
  });

  it('include each change and each round, and the time of the last success', async () => {
    await put(service('web', '10.96.0.1'));
    await start();
    const first = clock.now();
    await clock.advance(5000);
    await put(slice('web-1', 'web', ['10.244.0.2']));
    const counted = told();
    assert.equal(counted.get('kubeproxy_sync_proxy_rules_service_changes_total'), 1);
    assert.equal(counted.get('kubeproxy_sync_proxy_rules_endpoint_changes_total'), 1);
    assert.equal(counted.get('kubeproxy_sync_proxy_rules_endpoint_changes_pending'), 0);
    assert.equal(counted.get('kubeproxy_sync_proxy_rules_duration_seconds_count'), 2);
    assert.equal(counted.get('kubeproxy_sync_proxy_rules_last_timestamp_seconds'), (first + 5000) / 1000);
    assert.equal(counted.get('kubeproxy_sync_proxy_rules_nftables_sync_failures_total'), 0);
  });

  it('include a change as pending until nft accepts it', async () => {
    await start();
    kernel.before = (file) => {
      kernel.before = () => {};
      throw failure(file, 1);
    };
    await put(service('web', '10.96.0.1'), slice('web-1', 'web', ['10.244.0.2']));
    assert.equal(told().get('kubeproxy_sync_proxy_rules_service_changes_pending'), 1);
    assert.equal(told().get('kubeproxy_sync_proxy_rules_nftables_sync_failures_total'), 1);
    await clock.advance(100);
    assert.equal(told().get('kubeproxy_sync_proxy_rules_service_changes_pending'), 0);
  });

  it('contain the delay of each change of a pod once, but not of objects from before the start', async () => {
    const began = clock.now();
    await put(service('web', '10.96.0.1'), changedAt(began - 60_000, slice('web-1', 'web', ['10.244.0.2'])));
    await start();
    await clock.advance(10_000);
    const next = changedAt(began + 7000, slice('web-1', 'web', ['10.244.0.2', '10.244.0.3']));
    await put(next);
    await put({ ...next, endpoints: [] });
    const name = 'kubeproxy_network_programming_duration_seconds';
    assert.equal(told().get(`${name}_count`), 1);
    assert.equal(told().get(`${name}_sum`), 3);
  });
});

test('a process that listens on the port of a load balancer has it from the next check of the proxy on', async () => {
  await start();
  const balanced: Service = {
    ...service('web', '10.96.0.1'),
    spec: { ...service('web', '10.96.0.1').spec, type: 'LoadBalancer' },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'Proxy' }] } },
  };
  await put(balanced, slice('web-1', 'web', ['10.244.0.2']));
  assert.deepEqual(kernel.elements['balancer-ports'], { 'tcp . 80': 'goto node-port-random-1' });
  assert.equal(kernel.elements['own-ports'], undefined);
  kernel.listening = 'tcp LISTEN 0 511 0.0.0.0:80 0.0.0.0:*';
  await clock.advance(10_000);
  assert.deepEqual(kernel.elements['own-ports'], { 'tcp . 80': '' });
  assert.deepEqual(proxier.heldPorts(), [{ protocol: 'tcp', port: 80, services: ['default/web'] }]);
  kernel.listening = '';
  await clock.advance(10_000);
  assert.equal(kernel.elements['own-ports'], undefined);
  assert.deepEqual(proxier.heldPorts(), []);
});

test('a node that is labelled with another zone sends to the endpoints of that zone', async () => {
  await start();
  const hinted = slice('web-1', 'web', ['10.244.0.2', '10.244.0.3']);
  const endpoints = hinted.endpoints.map((one, index) => ({
    ...one,
    hints: { forZones: [{ name: index === 0 ? 'x' : 'y' }] },
  }));
  await put(service('web', '10.96.0.1'), { ...hinted, endpoints });
  assert.deepEqual(leads(), { '10.96.0.1': ['random-2', '10.244.0.2', '10.244.0.3'] });
  const label = (zone: string) => {
    const labels = { 'topology.kubernetes.io/zone': zone };
    const metadata = { ...meta('n'), namespace: undefined, labels };
    const node = { apiVersion: 'v1', kind: 'Node', metadata } as unknown as KubeObject;
    informers.put({ ...nodeResource, part: 'metadata' } as ResourceRef<KubeObject>, node);
    return clock.settle();
  };
  await label('y');
  assert.deepEqual(leads(), { '10.96.0.1': ['random-1', '10.244.0.3'] });
  await label('x');
  assert.deepEqual(leads(), { '10.96.0.1': ['random-1', '10.244.0.2'] });
});

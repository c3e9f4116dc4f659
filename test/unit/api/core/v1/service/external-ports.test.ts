/**
 * External addresses of Services that a node serves while Services, nodes and masters are added, changed and
 * removed.
 */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { externalPort } from '../../../../../../src/api/core/v1/service/external-addresses.ts';
import { ExternalPorts } from '../../../../../../src/api/core/v1/service/external-ports.ts';
import type { Service } from '../../../../../../src/api/core/v1/service/service.ts';
import type { KubeObject } from '../../../../../../src/apimachinery/meta.ts';
import { meta } from '../../../../controllers/objects.ts';

const address = '203.0.113.8';
let ports: ExternalPorts;
beforeEach(() => {
  ports = new ExternalPorts({
    serviceCIDR: '10.96.0.0/16',
    clusterCIDR: '10.244.0.0/16',
    nodeIP: '192.0.2.1',
  });
});

interface Shape {
  readonly created?: string;
  readonly uid?: string;
  readonly addresses?: readonly string[];
  readonly numbers?: readonly number[];
}
function service(key: string, { created = '10', uid = key, addresses = [address], numbers = [80] }: Shape) {
  const [namespace = '', name = ''] = key.split('/');
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...meta(name), namespace, uid, creationTimestamp: `2026-01-01T00:00:${created}Z` },
    spec: {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      clusterIP: '10.96.0.7',
      externalIPs: [...addresses],
      ports: numbers.map((port) => ({ name: `p${port}`, protocol: 'TCP', port, targetPort: port })),
    },
  } as Service;
}
const put = (key: string, shape: Shape = {}) => [...ports.setService(key, service(key, shape))].sort();
const take = (key: string) => [...ports.setService(key, undefined)].sort();
const node = (annotations: Readonly<Record<string, string | undefined>>): KubeObject =>
  ({ metadata: { ...meta('n2'), annotations } }) as unknown as KubeObject;
const served = (key: string, at = address, port = 80) =>
  ports.isServed(key, at, externalPort(at, { protocol: 'TCP', port }));

test('the oldest of several Services gets a port, whatever their names and order', () => {
  assert.deepEqual(put('z/old', { created: '10' }), ['z/old']);
  assert.deepEqual(put('a/young', { created: '11', numbers: [80, 81] }), ['a/young'], 'of its own port');
  assert.deepEqual([served('z/old'), served('a/young'), served('a/young', address, 81)], [true, false, true]);
  assert.deepEqual(put('m/oldest', { created: '09' }), ['m/oldest', 'z/old']);
  assert.deepEqual([served('m/oldest'), served('z/old')], [true, false]);
});

test('the first uid of two Services of the same second gets a port', () => {
  put('a/one', { uid: 'b' });
  put('b/two', { uid: 'a' });
  assert.deepEqual([served('a/one'), served('b/two')], [false, true]);
});

test('the next oldest gets the port once the first is deleted, gives up the port, or is created again', () => {
  put('z/old', { created: '10' });
  put('a/young', { created: '11' });
  put('b/youngest', { created: '12' });
  assert.deepEqual(put('z/old', { created: '10', addresses: [] }), ['a/young', 'z/old']);
  assert.ok(served('a/young'));
  assert.deepEqual(put('z/old', { created: '10' }), ['a/young', 'z/old'], 'it is the oldest still');
  assert.deepEqual(put('z/old', { created: '20', uid: 'again' }), ['a/young', 'z/old']);
  assert.ok(served('a/young'));
  assert.deepEqual(take('a/young'), ['a/young', 'b/youngest']);
  assert.ok(served('b/youngest'));
  take('b/youngest');
  take('z/old');
  assert.ok(!served('z/old'));
});

test('a change without effect on external ports affects no Service', () => {
  put('a/one', {});
  assert.deepEqual(put('a/one', {}), []);
  assert.deepEqual([...ports.setNode('n2', node({ 'minik8s.io/overlay': 'vxlan' }))], []);
  assert.deepEqual([...ports.setMasters([])], []);
});

test('the addresses of this node and of the cluster are never served for a Service', () => {
  const own = ['192.0.2.1', '10.96.0.9', '10.244.3.3', '127.0.0.1'];
  put('a/one', { addresses: [...own, address] });
  assert.deepEqual(
    [...own, address].filter((one) => served('a/one', one)),
    [address],
  );
});

test('an address is not served while a node or its pods have it', () => {
  put('a/one', {});
  for (const annotations of [
    { 'minik8s.io/node-ip': address },
    { 'minik8s.io/node-ip': '192.0.2.2', 'minik8s.io/pod-cidr': '203.0.113.0/24' },
  ]) {
    assert.deepEqual([...ports.setNode('n2', node(annotations))], ['a/one']);
    assert.ok(!served('a/one'));
    assert.deepEqual([...ports.setNode('n2', node(annotations))], [], 'the same again');
    assert.deepEqual([...ports.setNode('n2', undefined)], ['a/one']);
    assert.ok(served('a/one'));
  }
});

test('an address is not served while a master has it', () => {
  put('a/one', {});
  assert.deepEqual([...ports.setMasters(['192.0.2.9', address])], ['a/one']);
  assert.ok(!served('a/one'));
  assert.deepEqual([...ports.setMasters(['192.0.2.9', address])], []);
  assert.deepEqual([...ports.setMasters(['192.0.2.9'])], ['a/one']);
  assert.ok(served('a/one'));
});

test('a Service without an address for clients holds no port', () => {
  const headless = service('z/old', {});
  ports.setService('z/old', { ...headless, spec: { ...headless.spec, clusterIP: 'None' } });
  put('a/young', { created: '11' });
  assert.ok(served('a/young'));
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Service } from '../../../src/api/core/v1/service/service.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { bootstrapObjects } from '../../../src/kube-apiserver/bootstrap.ts';
import { objectsAt, startTestServer, storedObject, type TestServer } from '../../fixtures/api-server.ts';

const services = '/api/v1/namespaces/default/services';

describe('services', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const create = (name: string, spec: object, on = server) =>
    on.call('POST', services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
  const made = async (name: string, spec: object, on = server) => {
    const answer = await create(name, spec, on);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<Service>();
  };
  const patch = async (name: string, spec: object) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer = await server.call('PATCH', `${services}/${name}`, { spec }, { headers });
    assert.equal(answer.status, 200, answer.text);
    return answer.json<Service>();
  };
  const refused = async (name: string, spec: object, field: RegExp) => {
    const answer = await create(name, spec);
    assert.equal(answer.status, 422, answer.text);
    const causes = answer.json<Status>().details?.causes ?? [];
    assert.ok(
      causes.some((cause) => field.test(`${cause.field}: ${cause.message}`)),
      answer.text,
    );
    assert.equal(await storedObject(server, `/registry/services/default/${name}`), undefined);
  };

  it('get an address of the range, stored in both fields', async () => {
    const { spec } = await made('auto', {});
    assert.match(spec.clusterIP ?? '', /^10\.96\.\d+\.\d+$/);
    assert.deepEqual(spec.clusterIPs, [spec.clusterIP]);
    const stored = (await storedObject(server, '/registry/services/default/auto')) as Service;
    assert.equal(stored.spec.clusterIP, spec.clusterIP);
  });

  it('get no address if they are headless or external names', async () => {
    const headless = await made('headless', { clusterIP: 'None' });
    assert.deepEqual(headless.spec.clusterIPs, ['None']);
    const external = await made('external', { type: 'ExternalName', externalName: 'example.com', ports: [] });
    assert.equal(external.spec.clusterIP, undefined);
    await made('headless-2', { clusterIP: 'None' });
  });

  it('hold the address and the port that they request, exclusively', async () => {
    await made('chosen', {
      clusterIP: '10.96.0.11',
      type: 'NodePort',
      ports: [{ port: 80, nodePort: 30080 }],
    });
    await refused('same-ip', { clusterIP: '10.96.0.11' }, /spec.clusterIPs: .*already allocated/);
    await refused(
      'same-port',
      { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] },
      /spec.ports\[0\].nodePort: .*already allocated/,
    );
    const dry = { metadata: { name: 'dry' }, spec: { clusterIP: '10.96.0.11', ports: [{ port: 80 }] } };
    const told = await server.call('POST', `${services}?dryRun=All`, dry);
    assert.match(told.text, /spec.clusterIPs.*already allocated/);
    await made('other-port', { type: 'NodePort', ports: [{ port: 80 }] });
    const port = { spec: { ports: [{ port: 80, nodePort: 30080 }] } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const changed = await server.call('PATCH', `${services}/other-port?dryRun=All`, port, { headers });
    assert.match(changed.text, /nodePort.*already allocated/);
    await refused('outside', { clusterIP: '10.97.0.1' }, /not in the valid range/);
    await refused('network', { clusterIP: '10.96.0.0' }, /not in the valid range/);
    await refused(
      'low-port',
      { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
      /not in the valid range/,
    );
    await refused(
      'high-port',
      { type: 'NodePort', ports: [{ port: 80, nodePort: 32768 }] },
      /nodePort: .*not in the valid range\. The range of valid ports is 30000-32767/,
    );
    await made('last-port', { type: 'NodePort', ports: [{ port: 80, nodePort: 32767 }] });
    await refused('nonsense', { clusterIP: 'x' }, /spec.clusterIP/);
    await server.call('DELETE', `${services}/chosen`);
    await made('heir', { clusterIP: '10.96.0.11', type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] });
  });

  it('release addresses and ports that a change of type makes unnecessary, and allocate required ones', async () => {
    const first = await made('shape', { type: 'NodePort' });
    const { clusterIP } = first.spec;
    const nodePort = first.spec.ports?.[0]?.nodePort;
    assert.ok(nodePort && nodePort >= 30000 && nodePort <= 32767);
    const plain = await patch('shape', { type: 'ClusterIP' });
    assert.equal(plain.spec.clusterIP, clusterIP);
    assert.equal(plain.spec.ports?.[0]?.nodePort, undefined);
    await made('port-heir', { type: 'NodePort', ports: [{ port: 80, nodePort }] });
    const external = await patch('shape', { type: 'ExternalName', externalName: 'example.com' });
    assert.equal(external.spec.clusterIP, undefined);
    await made('ip-heir', { clusterIP });
    const back = await patch('shape', { type: 'NodePort', externalName: null });
    assert.match(back.spec.clusterIP ?? '', /^10\.96\./);
    assert.notEqual(back.spec.clusterIP, clusterIP);
    assert.notEqual(back.spec.ports?.[0]?.nodePort, nodePort);
  });

  it('are refused with fields of another type, and lose them with their type', async () => {
    const balancer = { type: 'LoadBalancer' };
    for (const [spec, cause] of [
      [{ loadBalancerSourceRanges: ['10.0.0.0/8'] }, /^spec\.LoadBalancerSourceRanges: Forbidden/],
      [{ ...balancer, loadBalancerSourceRanges: ['abc'] }, /^spec\.LoadBalancerSourceRanges\[0\]: Invalid/],
      [{ loadBalancerClass: 'a/b' }, /^spec\.loadBalancerClass: Forbidden/],
      [{ ...balancer, loadBalancerClass: 'a b' }, /^spec\.loadBalancerClass: Invalid/],
      [{ allocateLoadBalancerNodePorts: true }, /^spec\.allocateLoadBalancerNodePorts: Forbidden/],
      [{ ...balancer, healthCheckNodePort: 30100 }, /^spec\.healthCheckNodePort: Invalid/],
      [{ trafficDistribution: 'X' }, /^spec\.trafficDistribution: Unsupported value/],
    ] as const)
      await refused('mixed', spec, cause);

    const local = { externalTrafficPolicy: 'Local', healthCheckNodePort: 30100 };
    const first = await made('typed', { ...balancer, ...local, loadBalancerClass: 'a/b' });
    const nodePort = first.spec.ports?.[0]?.nodePort;
    assert.ok(nodePort);
    const { spec } = await patch('typed', { type: 'ClusterIP' });
    assert.deepEqual(
      [spec.loadBalancerClass, spec.healthCheckNodePort, spec.allocateLoadBalancerNodePorts],
      [undefined, undefined, undefined],
    );
    await made('typed-heir', { type: 'NodePort', ports: [{ port: 80, nodePort }] });
    await patch('typed', { type: 'LoadBalancer', loadBalancerClass: 'a/c' });
  });

  it('keep fields that an update omits, and their address forever', async () => {
    const first = await made('kept', { type: 'NodePort', ports: [{ name: 'a', port: 80 }] });
    const body = {
      metadata: { name: 'kept' },
      spec: {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
      },
    };
    const answer = await server.call('PUT', `${services}/kept`, body);
    const second = answer.json<Service>();
    assert.equal(answer.status, 200, answer.text);
    assert.equal(second.spec.clusterIP, first.spec.clusterIP);
    assert.equal(second.spec.ports?.[0]?.nodePort, first.spec.ports?.[0]?.nodePort);
    assert.ok(second.spec.ports?.[1]?.nodePort);
    const moved = await server.call('PUT', `${services}/kept`, {
      ...body,
      spec: { ...body.spec, clusterIP: '10.96.77.77' },
    });
    assert.equal(moved.status, 422);
    await made('other', { clusterIP: '10.96.77.77' });
  });

  it('release their addresses and ports with their last finalizer', async () => {
    const held = { clusterIP: '10.96.0.88', type: 'NodePort', ports: [{ port: 80, nodePort: 30088 }] };
    const metadata = { name: 'waits', finalizers: ['example.com/a'] };
    assert.equal((await server.call('POST', services, { metadata, spec: held })).status, 201);
    assert.equal((await server.call('DELETE', `${services}/waits`)).status, 200);
    await refused('too-early', held, /already allocated/);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const last = { metadata: { finalizers: [] } };
    assert.equal((await server.call('PATCH', `${services}/waits`, last, { headers })).status, 200);
    assert.equal(await storedObject(server, '/registry/services/default/waits'), undefined);
    await made('after', held);
  });

  it('have distinct node ports for any start of the search', async () => {
    const own = await startTestServer({ random: { next: () => 0.3, uuid: () => crypto.randomUUID() } });
    const ports = [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
      { name: 'c', port: 82, nodePort: 30831 },
      { name: 'd', port: 83 },
    ];
    const { spec } = await made('many', { type: 'NodePort', ports }, own);
    assert.equal(new Set(spec.ports?.map(({ nodePort }) => nodePort)).size, 4, JSON.stringify(spec.ports));
    await own.stop();
  });

  it('never share an address, even if many are created at the same time', async () => {
    const own = await startTestServer({
      serviceCIDR: '10.96.0.0/26',
      random: { next: () => 0.3, uuid: () => crypto.randomUUID() },
    });
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, i) => made(`s${i}`, { type: 'NodePort' }, own)),
    );
    assert.equal(new Set(all.map(({ spec }) => spec.clusterIP)).size, 40);
    assert.equal(new Set(all.map(({ spec }) => spec.ports?.[0]?.nodePort)).size, 40);
    await own.stop();
  });

  it('are refused when the range is used up, and accepted again when one is deleted', async () => {
    const own = await startTestServer({ serviceCIDR: '10.96.0.0/28' });
    for (let i = 0; i < 12; i++) await made(`s${i}`, {}, own);
    const full = await create('full', {}, own);
    assert.equal(full.status, 500);
    assert.match(full.json<Status>().message ?? '', /all 14 addresses are in use/);
    await own.call('DELETE', `${services}/s3`);
    await own.cache.waitUntil(await own.store.currentRevision());
    await made('full', {}, own);
    await own.stop();
  });

  it('allocate nothing in a dry run', async () => {
    await server.call('POST', `${services}?dryRun=All`, {
      metadata: { name: 'dry' },
      spec: { clusterIP: '10.96.0.55', ports: [{ port: 1 }] },
    });
    await made('wet', { clusterIP: '10.96.0.55' });
  });
});

describe('bootstrap', () => {
  it('creates the Services of every cluster only once', async () => {
    const server = await startTestServer({ bare: true, bareNamespaces: true });
    await bootstrapObjects(server, objectsAt(6443));
    const before = await server.store.list('/registry/');
    assert.deepEqual(
      before.items.map(({ key }) => key),
      [
        '/registry/flowschemas.flowcontrol.apiserver.k8s.io/catch-all',
        '/registry/flowschemas.flowcontrol.apiserver.k8s.io/exempt',
        '/registry/namespaces/default',
        '/registry/namespaces/kube-node-lease',
        '/registry/namespaces/kube-public',
        '/registry/namespaces/kube-system',
        '/registry/priorityclasses.scheduling.k8s.io/system-cluster-critical',
        '/registry/priorityclasses.scheduling.k8s.io/system-node-critical',
        '/registry/prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/catch-all',
        '/registry/prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/exempt',
        '/registry/services/default/kubernetes',
        '/registry/services/kube-system/kube-dns',
        '/registry/storageclasses.storage.k8s.io/local',
      ],
    );
    await bootstrapObjects(server, objectsAt(7443));
    const same = await server.store.list('/registry/');
    assert.equal(same.revision, before.revision);
    const service = (await storedObject(server, '/registry/services/default/kubernetes')) as Service;
    assert.equal(service.spec.clusterIP, '10.96.0.1');
    assert.equal(service.spec.ports?.[0]?.targetPort, 6443);
    await server.stop();
  });
});

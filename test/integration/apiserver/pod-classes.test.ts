/** Fields that a pod inherits from the classes that it names, and the built-in classes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { PriorityClass } from '../../../src/api/scheduling/v1/priority-class.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const inDefault = '/api/v1/namespaces/default';
const priorities = '/apis/scheduling.k8s.io/v1/priorityclasses';
const runtimes = '/apis/node.k8s.io/v1/runtimeclasses';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

describe('classes of pods', () => {
  let server: TestServer;
  let count = 0;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const create = (spec: object) =>
    server.call('POST', `${inDefault}/pods`, {
      metadata: { name: `p${count++}` },
      spec: { containers: [{ name: 'a', image: 'b' }], ...spec },
    });
  const pod = async (spec: object): Promise<Pod['spec']> => {
    const answer = await create(spec);
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.headers.get('warning'), null);
    return answer.json<Pod>().spec;
  };
  /** A list waits until the cache is as new as the store, so the server has seen all earlier writes. */
  const seen = async (path: string) => assert.equal((await server.call('GET', path)).status, 200);
  const make = async (path: string, body: object) => {
    const answer = await server.call('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
    await seen(path);
  };
  const refused = async (path: string, method: string, body: object, code: number, why: RegExp) => {
    const answer = await server.call(method, path, body, method === 'PATCH' ? merge : {});
    assert.equal(answer.status, code, answer.text);
    assert.match(answer.json<Status>().message ?? '', why);
  };

  it('two classes of priority exist from the beginning', async () => {
    const found = await server.call('GET', priorities);
    assert.deepEqual(
      found.json<{ items: PriorityClass[] }>().items.map(({ metadata, value }) => [metadata.name, value]),
      [
        ['system-cluster-critical', 2_000_000_000],
        ['system-node-critical', 2_000_001_000],
      ],
    );
    assert.equal((await pod({ priorityClassName: 'system-node-critical' })).priority, 2_000_001_000);
  });

  it('a pod gets the priority and the preemption policy of its class, and both cannot be changed', async () => {
    await make(priorities, { metadata: { name: 'calm' }, value: 500, preemptionPolicy: 'Never' });
    const { priority, preemptionPolicy } = await pod({ priorityClassName: 'calm' });
    assert.deepEqual([priority, preemptionPolicy], [500, 'Never']);
    const name = `${inDefault}/pods/p${count - 1}`;
    const body = (await server.call('GET', name)).json<Pod>();
    delete body.spec.priority;
    delete body.spec.preemptionPolicy;
    body.metadata.labels = { changed: 'yes' };
    const written = await server.call('PUT', name, body);
    assert.equal(written.status, 200, written.text);
    assert.equal(written.json<Pod>().spec.priority, 500);
    await refused(name, 'PATCH', { spec: { priority: 6 } }, 422, /pod updates may not change/);
    await refused(`${priorities}/calm`, 'PATCH', { value: 501 }, 422, /may not be changed in an update/);
    const policy = { preemptionPolicy: 'PreemptLowerPriority' };
    await refused(`${priorities}/calm`, 'PATCH', policy, 422, /field is immutable/);
  });

  it('names of priority classes that begin with system- are reserved for the system', () =>
    refused(
      priorities,
      'POST',
      { metadata: { name: 'system-mine' }, value: 5 },
      422,
      /reserved for system use/,
    ));

  it('one class is the default; pods that name no class get it', async () => {
    await make(priorities, { metadata: { name: 'usual' }, value: 20, globalDefault: true });
    const { priority, priorityClassName } = await pod({});
    assert.deepEqual([priority, priorityClassName], [20, 'usual']);
    const second = { metadata: { name: 'second' }, value: 20, globalDefault: true };
    await refused(priorities, 'POST', second, 403, /PriorityClass usual is already marked as default/);
    const path = `${priorities}/calm`;
    await refused(path, 'PATCH', { globalDefault: true }, 403, /PriorityClass usual is already marked/);
    const described = await server.call('PATCH', `${priorities}/usual`, { description: 'x' }, merge);
    assert.equal(described.status, 200, described.text);
    assert.equal((await server.call('DELETE', `${priorities}/usual`)).status, 200);
    await seen(priorities);
    assert.equal((await pod({})).priority, 0);
  });

  it('a pod gets the overhead, the node selector and the tolerations of its runtime class', async () => {
    const toleration = { key: 'sandboxed', operator: 'Exists', effect: 'NoSchedule' };
    await make(runtimes, {
      metadata: { name: 'heavy' },
      handler: 'kata',
      overhead: { podFixed: { cpu: '250m' } },
      scheduling: { nodeSelector: { runtime: 'kata' }, tolerations: [toleration] },
    });
    const spec = await pod({ runtimeClassName: 'heavy' });
    assert.deepEqual(spec.overhead, { cpu: '250m' });
    assert.deepEqual(spec.nodeSelector, { runtime: 'kata' });
    assert.deepEqual(spec.tolerations?.at(-1), toleration);
    const other = { runtimeClassName: 'heavy', nodeSelector: { runtime: 'runc' } };
    assert.match(
      (await create(other)).text,
      /conflict: runtimeClass.scheduling.nodeSelector\[runtime\] = kata/,
    );
  });

  it('the maximum number of tolerations includes the tolerations of a class, and thousands are rejected', async () => {
    const tolerations = Array.from({ length: 5000 }, (_, index) => ({
      key: `k${index}`,
      operator: 'Exists',
    }));
    const more = { runtimeClassName: 'heavy', nodeSelector: { runtime: 'kata' } };
    const spec = await pod({ ...more, tolerations: tolerations.slice(0, 396) });
    assert.equal(spec.tolerations?.length, 399);
    const body = { metadata: { name: 'many' }, spec: { ...more, tolerations, containers: [] } };
    const answer = await server.call('POST', '/api/v1/namespaces/default/pods', body);
    assert.equal(answer.status, 422);
    assert.match(answer.text, /spec\.tolerations: Too many: 500\d: must have at most 400 items/);
  });

  it('the objects of API Priority and Fairness exist from the start', async () => {
    for (const kind of ['flowschemas', 'prioritylevelconfigurations']) {
      const found = await server.call('GET', `/apis/flowcontrol.apiserver.k8s.io/v1/${kind}`);
      const { items } = found.json<{ items: { metadata: { name: string; annotations: object } }[] }>();
      assert.deepEqual(
        items.map(({ metadata }) => [metadata.name, metadata.annotations]),
        ['catch-all', 'exempt'].map((name) => [name, { 'apf.kubernetes.io/autoupdate-spec': 'true' }]),
      );
    }
  });

  it('classes of the system cannot be deleted, neither alone nor in a collection', async () => {
    const why = /"system-node-critical" is forbidden: this is a system priority class and cannot be deleted$/;
    await refused(`${priorities}/system-node-critical`, 'DELETE', {}, 403, why);
    await refused(`${priorities}/system-node-critical`, 'DELETE', { dryRun: ['All'] }, 403, why);
    await refused(priorities, 'DELETE', {}, 403, /this is a system priority class and cannot be deleted$/);
    await make(priorities, { metadata: { name: 'passing' }, value: 1 });
    assert.equal((await server.call('DELETE', `${priorities}/passing`)).status, 200);
    const left = (await server.call('GET', priorities)).json<{ items: PriorityClass[] }>().items;
    const names = left.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('system-'));
    assert.deepEqual(names, ['system-cluster-critical', 'system-node-critical']);
  });
});

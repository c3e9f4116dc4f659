/** The status of an object is only written by its subresource, which writes nothing else. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

const path = '/api/v1/namespaces/default/pods/p';
let server: TestServer;
let made: Pod;
beforeEach(async () => {
  server = await startTestServer();
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const pods = path.slice(0, path.lastIndexOf('/'));
  made = (await server.call('POST', pods, { metadata: { name: 'p' }, spec })).json<Pod>();
});
afterEach(() => server.stop());

const change = { spec: { activeDeadlineSeconds: 5 }, status: { phase: 'Running' } };
const both = () => ({ ...made, spec: { ...made.spec, ...change.spec }, status: change.status });

for (const [method, body, headers] of [
  ['PUT', both, {}],
  ['PATCH', () => change, { 'content-type': 'application/merge-patch+json' }],
] as const)
  test(`${method} changes either the status or the other fields`, async () => {
    const status = await server.call(method, `${path}/status`, body(), { headers });
    assert.equal(status.status, 200, status.text);
    const { metadata } = status.json<Pod>();
    const read = await server.call('GET', `${path}/status`);
    assert.deepEqual([read.status, read.json<Pod>().status?.phase], [200, 'Running']);
    assert.deepEqual(read.json<Pod>().spec, made.spec);

    const wanted = method === 'PUT' ? { ...body(), metadata, status: { phase: 'Failed' } } : body();
    const main = await server.call(method, path, wanted, { headers });
    assert.equal(main.status, 200, main.text);
    assert.equal(main.json<Pod>().spec.activeDeadlineSeconds, 5);
    assert.equal(main.json<Pod>().status?.phase, 'Running');
  });

test('the phase of a namespace is Terminating during its deletion', async () => {
  const namespace = '/api/v1/namespaces/n';
  const body = { metadata: { name: 'n', finalizers: ['a/b'] } };
  assert.equal((await server.call('POST', '/api/v1/namespaces', body)).status, 201);
  const headers = { 'content-type': 'application/merge-patch+json' };
  const write = async (phase: string | null) =>
    (await server.call('PATCH', `${namespace}/status`, { status: { phase } }, { headers })).status;
  assert.deepEqual([await write('Terminating'), await write(null), await write('Active')], [422, 422, 200]);
  assert.equal((await server.call('DELETE', namespace)).status, 200);
  assert.deepEqual([await write('Active'), await write('Terminating')], [422, 200]);
});

/** Lists by a field that is indexed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { startTestServer } from '../../fixtures/api-server.ts';

test('a list of the pods of a node has them in order, by namespace and other selectors, and reads no other pods', async () => {
  const server = await startTestServer();
  const pods = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
  await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'other' } });
  const spec = (nodeName: string) => ({ nodeName, containers: [{ name: 'c', image: 'i' }] });
  for (const [namespace, name, node] of [
    ['default', 'c', 'n1'],
    ['default', 'a', 'n1'],
    ['default', 'b', 'n2'],
    ['other', 'a', 'n1'],
  ] as const) {
    const labels = { name };
    const made = await server.call('POST', pods(namespace), { metadata: { name, labels }, spec: spec(node) });
    assert.equal(made.status, 201, made.text);
  }
  const { list } = server.cache;
  const scanned: string[] = [];
  server.cache.list = (prefix) => {
    scanned.push(prefix);
    return list(prefix);
  };
  const found = async (path: string, selectors: string) => {
    const { items } = (await server.call('GET', `${path}?${selectors}`)).json<{ items: KubeObject[] }>();
    return items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  };
  const ofNode = (node: string) => `fieldSelector=spec.nodeName%3D${node}`;
  const everywhere = '/api/v1/pods';
  assert.deepEqual(await found(everywhere, ofNode('n1')), ['default/a', 'default/c', 'other/a']);
  assert.deepEqual(await found(pods('default'), ofNode('n1')), ['default/a', 'default/c']);
  assert.deepEqual(await found(pods('default'), `${ofNode('n1')}&labelSelector=name%3Dc`), ['default/c']);
  assert.deepEqual(await found(everywhere, `${ofNode('n1')},spec.nodeName%3Dn2`), []);
  assert.deepEqual(await found(everywhere, ofNode('none')), []);
  assert.deepEqual(scanned, []);
  assert.deepEqual(await found(everywhere, 'fieldSelector=spec.nodeName%21%3Dn1'), ['default/b']);
  assert.deepEqual(scanned, ['/registry/pods/']);
  await server.stop();
});

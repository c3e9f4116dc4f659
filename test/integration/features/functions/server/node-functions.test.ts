/** Reads and status writes of function versions with a node's certificate, over HTTPS. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';
import { inDefault, type NodeWorld, startNodeWorld } from '../../../apiserver/node-world.ts';

let world: NodeWorld;
const all = '/apis/minik8s.io/v1/namespaces/default/functionversions';
const at = (name: string) => `${all}/${name}`;
const image = (name: string, namespace = 'default') => `minik8s.function/${namespace}/${name}:h`;

before(async () => {
  world = await startNodeWorld();
  const version = (name: string) =>
    world.make(all, {
      apiVersion: 'minik8s.io/v1',
      kind: 'FunctionVersion',
      metadata: { name },
      spec: {
        function: name,
        runtime: 'python',
        handler: 'main.handler',
        files: { 'main.py': '' },
        image: image(name),
      },
    });
  const pod = async (name: string, node: string, labelled: string, uses: string) => {
    const labels = { 'minik8s.io/function-version': labelled };
    await world.make(`${inDefault}/pods`, {
      metadata: { name, labels },
      spec: { containers: [{ name: 'c', image: uses }] },
    });
    await world.make(`${inDefault}/pods/${name}/binding`, { target: { name: node } });
  };
  for (const name of ['mine', 'others', 'labelled', 'foreign']) await version(name);
  await pod('f-mine', 'n1', 'mine', image('mine'));
  await pod('f-others', 'n2', 'others', image('others'));
  await pod('f-labelled', 'n1', 'labelled', 'busybox:1');
  await pod('f-foreign', 'n1', 'foreign', image('foreign', 'kube-system'));
});
after(() => world.stop());

const ask: NodeWorld['ask'] = (...args) => world.ask(...args);
const says = async (name: string, status: object, more: object = {}) => {
  const now = (await world.server.call('GET', at(name))).json<FunctionVersion>();
  return (await ask('PUT', `${at(name)}/status`, { ...now, ...more, status })).status;
};
const condition = (type: string) => ({
  ...{ type, status: 'True', reason: 'Built', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
});

describe('a node reads a version of a function', () => {
  it('by its name if a pod of the function is bound to the node', async () => {
    assert.equal((await ask('GET', at('mine'))).status, 200);
    for (const path of [
      all,
      `${all}?watch=true`,
      `${all}?fieldSelector=metadata.name%3Dmine`,
      '/apis/minik8s.io/v1/functionversions',
    ])
      assert.equal((await ask('GET', path)).status, 403, path);
  });
  it('reads no other version; 404 and 403 show whether it exists', async () => {
    for (const name of ['others', 'labelled', 'foreign'])
      assert.equal((await ask('GET', at(name))).status, 403, name);
    assert.equal((await ask('GET', at('none'))).status, 404);
  });
  it('no longer after the pod was deleted', async () => {
    assert.equal((await world.server.call('DELETE', `${inDefault}/pods/f-labelled`)).status, 200);
    assert.equal((await ask('GET', at('labelled'))).status, 403);
  });
  it('reads no Function', async () => {
    assert.equal((await ask('GET', '/apis/minik8s.io/v1/namespaces/default/functions')).status, 403);
  });
  it('cannot gain access to a version by a mirror pod', async () => {
    const labels = { 'minik8s.io/function-version': 'others' };
    const annotations = {
      'kubernetes.io/config.mirror': 'x',
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.hash': 'x',
    };
    const uid = (await world.server.call('GET', '/api/v1/nodes/n1')).json<{ metadata: { uid: string } }>()
      .metadata.uid;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid, controller: true }];
    const mirror = (uses: string) => ({
      metadata: { name: `mirror-${uses.length}`, labels, annotations, ownerReferences },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: uses }] },
    });
    const plain = await ask('POST', `${inDefault}/pods`, mirror('busybox'));
    assert.equal(plain.status, 201, plain.text);
    const claiming = await ask('POST', `${inDefault}/pods`, mirror(image('others')));
    assert.equal(claiming.status, 403, claiming.text);
    assert.match(claiming.text, /image of a function/);
    assert.equal((await ask('GET', at('others'))).status, 403);
  });
});

describe('a node writes to a version of a function', () => {
  const hash = `--hash=sha256:${'a'.repeat(64)}`;
  const [first, second] = [`a==1 ${hash}\n`, `a==2 ${hash}\n`];
  it('as a lock with only names, versions and hashes of libraries', async () => {
    for (const lock of [
      'a==1',
      `--index-url https://x\n${first}`,
      `a @ https://x/a.whl ${hash}`,
      '-e .',
      '{}',
    ])
      assert.equal(await says('mine', { lock, nodeName: 'n1' }), 422, lock);
  });
  it('only once, with the result of its own build and the libraries', async () => {
    assert.equal(
      await says('mine', { lock: first, nodeName: 'n1', log: 'l', conditions: [condition('Built')] }),
      200,
    );
    assert.equal(
      await says('mine', { lock: first, nodeName: 'n1', log: 'm', conditions: [condition('Built')] }),
      200,
    );
    assert.equal(await says('mine', { lock: second, nodeName: 'n1' }), 403);
    assert.equal(await says('mine', { nodeName: 'n1' }), 403);
  });
  it('no other field, and nothing at all if another node builds the version', async () => {
    const now = { lock: first, nodeName: 'n1' };
    assert.equal(await says('mine', { ...now, nodeName: 'n2' }), 403);
    assert.equal(await says('mine', { ...now, conditions: [condition('Ready')] }), 403);
    assert.equal(await says('mine', { ...now, log: 'x'.repeat(9000) }), 403);
    assert.equal(await says('others', { nodeName: 'n1' }), 403);
    const found = (await world.server.call('GET', at('mine'))).json<FunctionVersion>();
    assert.equal((await ask('PUT', at('mine'), found)).status, 403);
    assert.equal((await ask('PATCH', `${at('mine')}/status`, { status: { log: '' } })).status, 403);
    assert.equal((await ask('DELETE', at('mine'))).status, 403);
    assert.equal((await ask('POST', all, { ...found, metadata: { name: 'new' } })).status, 403);
    // The spec in a status write is ignored.
    assert.equal(await says('mine', now, { spec: { ...found.spec, image: 'x' } }), 200);
    const after = (await world.server.call('GET', at('mine'))).json<FunctionVersion>();
    assert.deepEqual(after.spec, found.spec);
  });
});

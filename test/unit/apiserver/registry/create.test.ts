/** Names and keys of new objects in the store, and creations that are not retried. */
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import type { Status } from '../../../../src/apimachinery/status-error.ts';
import { maxNewValues } from '../../../../src/apimachinery/value-limit.ts';
import { RevisionMismatchError, StoreUnavailableError } from '../../../../src/storage/store.ts';
import {
  startTestServer,
  storedObject,
  type TestServer,
  type TestServerOptions,
} from '../../../fixtures/api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const key = (name: string) => `/registry/configmaps/default/${name}`;
let server: TestServer;
const start = async (options: TestServerOptions = {}) => {
  server = await startTestServer(options);
};
afterEach(() => server.stop());
const make = (metadata: object, query = '', more: object = {}) =>
  server.call('POST', `${maps}${query}`, { metadata, ...more });

describe('a generated name', () => {
  test('is the prefix and five characters, and has at most 63', async () => {
    await start();
    const { metadata } = (await make({ generateName: 'web-' })).json();
    assert.match(metadata.name, /^web-[a-z0-9]{5}$/);
    assert.equal(metadata.generateName, 'web-');
    const long = (await make({ generateName: 'x'.repeat(100) })).json().metadata.name;
    assert.match(long, /^x{58}[a-z0-9]{5}$/);
  });

  test('is not generated if a name was given', async () => {
    await start();
    assert.equal((await make({ name: 'own', generateName: 'web-' })).json().metadata.name, 'own');
  });

  test('is generated again if another object has it, eight times in all', async () => {
    let drawn = 0;
    const names = { next: () => (drawn++ < 40 ? 0 : 0.5), uuid: () => crypto.randomUUID() };
    await start({ random: names });
    drawn = 0;
    const first = (await make({ generateName: 'x-' })).json().metadata.name;
    drawn = 0;
    const refused = await make({ generateName: 'x-' });
    assert.equal(refused.status, 409, refused.text);
    assert.match(
      refused.json<Status>().message ?? '',
      /already exists, the server was not able to generate a unique name/,
    );
    assert.equal(drawn, 40, 'five characters, eight times');
    drawn = 5;
    const second = await make({ generateName: 'x-' });
    assert.equal(second.status, 201, 'the eighth is another');
    assert.notEqual(second.json().metadata.name, first);
  });

  test('is not generated again after other errors', async () => {
    await start();
    const answer = await make({ generateName: 'x-', labels: { 'a b': '' } });
    assert.equal(answer.status, 422, answer.text);
  });
});

describe('a new object', () => {
  test('is refused if one exists, also in a dry run', async () => {
    await start();
    assert.equal((await make({ name: 'a' }, '?dryRun=All')).status, 201);
    assert.equal(await storedObject(server, key('a')), undefined);
    assert.equal((await make({ name: 'a' })).status, 201);
    for (const query of ['', '?dryRun=All']) {
      const answer = await make({ name: 'a' }, query);
      assert.equal(answer.status, 409);
      assert.match(answer.json<Status>().message ?? '', /^configmaps "a" already exists$/);
    }
  });

  test('has no resourceVersion before it is stored; an object with a resourceVersion is rejected', async () => {
    await start();
    assert.equal((await make({ name: 'a' }, '?dryRun=All')).json().metadata.resourceVersion, '');
    assert.equal((await make({ name: 'a', resourceVersion: '1' })).status, 400);
    const { metadata } = (await make({ name: 'a' })).json();
    assert.equal(metadata.resourceVersion, String((await server.store.get(key('a')))?.revision));
  });

  test('is written once if the outcome of the write is unknown', async () => {
    let writes = 0;
    await start({
      wrapStore: (store) => ({
        ...store,
        create(name, ...rest) {
          if (!name.startsWith(key(''))) return store.create(name, ...rest);
          writes++;
          throw new StoreUnavailableError('away');
        },
      }),
    });
    assert.equal((await make({ name: 'a' })).status, 504);
    assert.equal(writes, 1);
  });
});

test('keeps its share of the quota if the outcome of the write is unknown', async () => {
  let isLost = true;
  await start({
    wrapStore: (store) => ({
      ...store,
      create(name, ...rest) {
        if (isLost && name.startsWith(key(''))) throw new StoreUnavailableError('away');
        return store.create(name, ...rest);
      },
    }),
  });
  const hard = { 'count/configmaps': '2' };
  const path = '/api/v1/namespaces/default/resourcequotas';
  const quota = (await server.call('POST', path, { metadata: { name: 'q' }, spec: { hard } })).json();
  const status = { hard, used: { 'count/configmaps': '0' } };
  assert.equal((await server.call('PUT', `${path}/q/status`, { ...quota, status })).status, 200);
  assert.equal((await make({ name: 'a' })).status, 504);
  isLost = false;
  assert.equal((await make({ name: 'b' })).status, 201);
  assert.equal((await make({ name: 'c' })).status, 403, 'it may be there');
});

describe('a pod that has too many values', () => {
  const remoteAddress = '192.0.2.8';
  const valuesOfContainer = 7;
  const podOf = (containers: number) => ({
    metadata: { name: 'large' },
    spec: { containers: Array.from({ length: containers }, (_, i) => ({ name: `c${i}`, image: 'i' })) },
  });

  test('is rejected with its defaults before admission', async () => {
    await start();
    const large = podOf(Math.ceil(maxNewValues / valuesOfContainer));
    const answer = await server.call('POST', '/api/v1/namespaces/none/pods', large, { remoteAddress });
    assert.equal(answer.status, 413, answer.text.slice(0, 300));
    const small = await server.call('POST', '/api/v1/namespaces/none/pods', podOf(1), { remoteAddress });
    assert.equal(small.status, 404, 'admission refuses the namespace');
  });

  test('is rejected with the requests that a LimitRange adds', async () => {
    await start();
    const pods = '/api/v1/namespaces/default/pods?dryRun=All';
    // Each container gets four values more: resources, requests, limits and an amount.
    const fitting = podOf(Math.floor(maxNewValues / (valuesOfContainer + 2)));
    assert.equal((await server.call('POST', pods, fitting, { remoteAddress })).status, 201);
    const limits = [{ type: 'Container', default: { cpu: '1' } }];
    const range = { metadata: { name: 'limits' }, spec: { limits } };
    assert.equal((await server.call('POST', '/api/v1/namespaces/default/limitranges', range)).status, 201);
    // A list waits until the server has seen all earlier writes.
    assert.equal((await server.call('GET', '/api/v1/namespaces/default/limitranges')).status, 200);
    assert.equal((await server.call('POST', pods, podOf(1), { remoteAddress })).status, 201);
    const answer = await server.call('POST', pods, fitting, { remoteAddress });
    assert.equal(answer.status, 413, answer.text.slice(0, 300));
  });
});

describe('a change', () => {
  const node = { name: 'system:node:n1', groups: ['system:nodes'] };
  const patch = (path: string, body: object, user?: typeof node) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    return server.call('PATCH', path, body, { headers, ...(user && { user }) });
  };

  test('is not made if admission rejects it', async () => {
    await start();
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    const answer = await patch(
      '/api/v1/nodes/n1',
      { metadata: { labels: { 'node-role.kubernetes.io/x': '' } } },
      node,
    );
    assert.equal(answer.status, 403, answer.text);
    assert.equal((await storedObject(server, '/registry/nodes/n1'))?.metadata.labels, undefined);
  });

  test('is not written if it changes nothing, and has the current version', async () => {
    await start();
    const { metadata } = (await make({ name: 'a', labels: { a: 'b' } })).json();
    const same = await patch(`${maps}/a`, { metadata: { labels: { a: 'b' } } });
    assert.equal(same.json().metadata.resourceVersion, metadata.resourceVersion);
    assert.equal(await server.store.currentRevision(), Number(metadata.resourceVersion));
  });

  test('deletes an object if it removes its last finalizer', async () => {
    await start();
    await make({ name: 'a', finalizers: ['x/y'] });
    assert.equal((await server.call('DELETE', `${maps}/a`)).json().metadata.deletionGracePeriodSeconds, 0);
    const last = await patch(`${maps}/a`, { metadata: { finalizers: null } });
    assert.equal(last.status, 200);
    assert.equal(await storedObject(server, key('a')), undefined);
  });
});

describe('a deletion', () => {
  test('with another version in its precondition names the current one', async () => {
    await start();
    const { metadata } = (await make({ name: 'a' })).json();
    const answer = await server.call('DELETE', `${maps}/a`, { preconditions: { resourceVersion: '1' } });
    assert.equal(answer.status, 409);
    assert.match(
      answer.json<Status>().message ?? '',
      new RegExp(
        `ResourceVersion in precondition: 1, ResourceVersion in object meta: ${metadata.resourceVersion}$`,
      ),
    );
    assert.ok(await storedObject(server, key('a')));
  });

  test('retries after a concurrent write', async () => {
    let changes = 0;
    await start({
      wrapStore: (store) => ({
        ...store,
        async delete(name, revision, ...rest) {
          if (changes++ > 0) return store.delete(name, revision, ...rest);
          const held = Buffer.from(
            JSON.stringify({
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'a', namespace: 'default', uid: 'u', finalizers: ['x/y'] },
            }),
          );
          const next = await store.update(name, held, revision);
          throw new RevisionMismatchError('another was faster', { key: name, value: held, revision: next });
        },
      }),
    });
    await make({ name: 'a' });
    assert.equal((await server.call('DELETE', `${maps}/a`)).status, 200);
    const kept = await storedObject(server, key('a'));
    assert.deepEqual(kept?.metadata.finalizers, ['x/y']);
    assert.ok(kept?.metadata.deletionTimestamp);
  });
});

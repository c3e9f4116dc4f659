/**
 * Answers and decisions while the watch cache lags behind the store, such as after another master's write.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { KubeList, KubeObject } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { type Answer, startTestServer, storedObject, type TestServer } from '../../fixtures/api-server.ts';
import { LaggingStore } from '../../fixtures/lagging-store.ts';

const inDefault = '/api/v1/namespaces/default';
const configMaps = `${inDefault}/configmaps`;
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

type ConfigMap = KubeObject & { data?: Record<string, string> };

describe('while the cache lags', () => {
  let lagging: LaggingStore;
  let server: TestServer;
  before(async () => {
    server = await startTestServer({
      wrapStore(store) {
        lagging = new LaggingStore(store);
        return lagging.store;
      },
    });
  });
  afterEach(async () => {
    lagging.releaseEvents();
    await server.cache.waitUntil(await server.store.currentRevision());
  });
  after(() => server.stop());

  const make = async (path: string, body: object): Promise<ConfigMap> => {
    const answer = await server.call('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<ConfigMap>();
  };
  const patch = (name: string, data: object) =>
    server.call('PATCH', `${configMaps}/${name}`, { data }, merge);
  const stored = async (name: string) =>
    (await storedObject(server, `/registry/configmaps/default/${name}`)) as ConfigMap | undefined;
  /** Creates an object and waits until it is in the cache. */
  const known = async (name: string, data = {}) => {
    const made = await make(configMaps, { metadata: { name }, data });
    await server.cache.waitUntil(Number(made.metadata.resourceVersion));
    return made;
  };
  /**
   * Returns the answer that is given once the cache has caught up, and asserts that it is not given earlier.
   */
  const afterCatchingUp = async (asked: Promise<Answer>): Promise<Answer> => {
    let answered = false;
    const noted = asked.then((answer) => {
      answered = true;
      return answer;
    });
    await server.clock.settle();
    assert.equal(answered, false, 'it was answered by a cache that is behind');
    lagging.releaseEvents();
    return noted;
  };

  it('a list waits, and shows writes that were acknowledged before it', async () => {
    lagging.holdEvents();
    await make(configMaps, { metadata: { name: 'listed' } });
    for (const query of ['', '?limit=1&fieldSelector=metadata.name%3Dlisted']) {
      lagging.holdEvents();
      await make(configMaps, { metadata: { generateName: 'more-' } });
      const answer = await afterCatchingUp(server.call('GET', `${configMaps}${query}`));
      const names = answer.json<KubeList>().items.map(({ metadata }) => metadata.name);
      assert.ok(names.includes('listed'), `${names}`);
    }
  });

  it('a list of version 0 is the content of the cache', async () => {
    lagging.holdEvents();
    await make(configMaps, { metadata: { name: 'not-yet' } });
    const found = (await server.call('GET', `${configMaps}?resourceVersion=0`)).json<KubeList>();
    assert.ok(!found.items.some(({ metadata }) => metadata.name === 'not-yet'));
    const asked = server.call('GET', `${configMaps}/not-yet`);
    await server.clock.settle();
    // The event does not arrive, so the server queries the store.
    await server.clock.advance(2);
    assert.equal((await asked).status, 200);
  });

  it('an update of the newest version succeeds, and an update of the version in the cache is a conflict', async () => {
    const old = await known('put', { a: '1' });
    lagging.holdEvents();
    const newer = (await patch('put', { a: '2' })).json<ConfigMap>();
    const put = (object: ConfigMap, a: string) =>
      server.call('PUT', `${configMaps}/put`, { ...object, data: { a } });
    const refused = await put(old, '3');
    assert.equal(refused.status, 409, refused.text);
    assert.deepEqual((await stored('put'))?.data, { a: '2' });
    const taken = await put(newer, '4');
    assert.equal(taken.status, 200, taken.text);
    assert.deepEqual((await stored('put'))?.data, { a: '4' });
  });

  it('a deletion of the newest version succeeds', async () => {
    await known('deleted');
    lagging.holdEvents();
    const { resourceVersion } = (await patch('deleted', { a: '2' })).json<ConfigMap>().metadata;
    const options = { preconditions: { resourceVersion } };
    const answer = await server.call('DELETE', `${configMaps}/deleted`, options);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await stored('deleted'), undefined);
  });

  it('a patch back to the value that the cache still shows is written', async () => {
    await known('patched', { a: '1' });
    lagging.holdEvents();
    await patch('patched', { a: '2' });
    const answer = await patch('patched', { a: '1' });
    assert.deepEqual(answer.json<ConfigMap>().data, { a: '1' });
    const now = await stored('patched');
    assert.deepEqual(now?.data, { a: '1' });
    assert.equal(answer.json<ConfigMap>().metadata.resourceVersion, now?.metadata.resourceVersion);
  });

  it('an object that was deleted is not found, although the cache still shows it', async () => {
    const made = await known('gone');
    lagging.holdEvents();
    assert.equal((await server.call('DELETE', `${configMaps}/gone`)).status, 200);
    assert.equal((await server.call('PUT', `${configMaps}/gone`, made)).status, 404);
    assert.equal((await patch('gone', {})).status, 404);
    assert.equal((await server.call('DELETE', `${configMaps}/gone`)).status, 404);
  });

  describe('a node', () => {
    const n1 = { name: 'system:node:n1', groups: ['system:nodes'] };
    const pod = (name: string) => ({
      metadata: { name },
      spec: {
        nodeName: 'n1',
        containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name } }] }],
      },
    });
    const caughtUp = async () => server.cache.waitUntil(await server.store.currentRevision());
    before(async () => {
      await make('/api/v1/nodes', { metadata: { name: 'n1' } });
      await make(`${inDefault}/secrets`, { metadata: { name: 'needed' } });
      await caughtUp();
    });

    it('reads the Secret of a pod that was bound to it a moment ago', async () => {
      lagging.holdEvents();
      await make(`${inDefault}/pods`, pod('needed'));
      const asked = server.call('GET', `${inDefault}/secrets/needed`, undefined, { user: n1 });
      const answer = await afterCatchingUp(asked);
      assert.equal(answer.status, 200, answer.text);
    });

    it('reports about a pod that was bound to it a moment ago', async () => {
      await make(`${inDefault}/pods`, { ...pod('told'), spec: { ...pod('told').spec, nodeName: undefined } });
      await caughtUp();
      lagging.holdEvents();
      await make(`${inDefault}/pods/told/binding`, { target: { name: 'n1' } });
      const event = {
        metadata: { name: 'told.1' },
        involvedObject: { kind: 'Pod', namespace: 'default', name: 'told' },
        source: { host: 'n1' },
      };
      const answer = await afterCatchingUp(server.call('POST', `${inDefault}/events`, event, { user: n1 }));
      assert.equal(answer.status, 201, answer.text);
    });
  });
});

describe('while a collection is deleted', () => {
  /** Runs the interference of the test before the first removal of an object. */
  async function withInterference(
    interfere: (server: TestServer) => Promise<void>,
    body: (server: TestServer) => Promise<void>,
  ): Promise<void> {
    let done = true;
    const server: TestServer = await startTestServer({
      wrapStore: (store) => ({
        ...store,
        async delete(key, ...rest) {
          if (!done) {
            done = true;
            await interfere(server);
          }
          return store.delete(key, ...rest);
        },
      }),
    });
    try {
      for (const name of ['a', 'b', 'c']) {
        const made = await server.call('POST', configMaps, { metadata: { name, labels: { own: 'yes' } } });
        assert.equal(made.status, 201);
      }
      done = false;
      await body(server);
    } finally {
      await server.stop();
    }
  }
  const own = `${configMaps}?labelSelector=own%3Dyes`;
  const names = (answer: Answer) => answer.json<KubeList>().items.map(({ metadata }) => metadata.name);

  it('an object that another client deletes in the meantime is no error', () =>
    withInterference(
      async (server) => {
        assert.equal((await server.call('DELETE', `${configMaps}/b`)).status, 200);
      },
      async (server) => {
        const answer = await server.call('DELETE', own);
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(names(answer), ['a', 'b', 'c'], 'as they were found');
        assert.deepEqual(names(await server.call('GET', own)), []);
      },
    ));

  it('only the object with the given uid is deleted', () =>
    withInterference(
      async () => undefined,
      async (server) => {
        const { uid } = (await server.call('GET', `${configMaps}/b`)).json().metadata;
        const answer = await server.call('DELETE', own, { preconditions: { uid } });
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(names(await server.call('GET', own)), ['a', 'c']);
      },
    ));

  it('any other error ends the deletion and is returned', () =>
    withInterference(
      async () => undefined,
      async (server) => {
        const options = { preconditions: { resourceVersion: '1' } };
        const answer = await server.call('DELETE', own, options);
        assert.equal(answer.status, 409, answer.text);
        assert.equal(answer.json<Status>().reason, 'Conflict');
        assert.deepEqual(names(await server.call('GET', own)), ['a', 'b', 'c']);
      },
    ));
});

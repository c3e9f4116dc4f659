import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeList } from '../../../src/apimachinery/meta.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { admin, startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { openTestWatch, type WatchReader } from '../../fixtures/watch-reader.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

describe('watch', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const createMap = async (name: string, labels = {}) =>
    (await server.call('POST', configMaps, { metadata: { name, labels } })).json();
  const label = (name: string, labels: object) =>
    server.call(
      'PATCH',
      `${configMaps}/${name}`,
      { metadata: { labels } },
      {
        headers: { 'content-type': 'application/merge-patch+json' },
      },
    );
  const now = async () => (await server.call('GET', configMaps)).json<KubeList>().metadata.resourceVersion;
  const nextNamed = async (watch: WatchReader) => {
    const line = await watch.next();
    return line && `${line.type} ${line.object.metadata.name}`;
  };

  it('sends every event after a version, with the kind in each object', async () => {
    const from = await now();
    const watch = await openTestWatch(server, `${configMaps}?watch=1&resourceVersion=${from}`);
    const made = await createMap('w1');
    await label('w1', { a: 'b' });
    const gone = await server.call('DELETE', `${configMaps}/w1`);
    assert.equal(gone.status, 200);
    assert.deepEqual(await watch.next(), { type: 'ADDED', object: made });
    const modified = await watch.next();
    assert.equal(modified?.type, 'MODIFIED');
    assert.equal(modified?.object.kind, 'ConfigMap');
    assert.deepEqual(modified?.object.metadata.labels, { a: 'b' });
    const deleted = await watch.next();
    assert.equal(deleted?.type, 'DELETED');
    assert.ok(
      Number(deleted?.object.metadata.resourceVersion) > Number(modified?.object.metadata.resourceVersion),
    );
    watch.abort();
  });

  it('continues after any event', async () => {
    const from = await now();
    for (const name of ['r1', 'r2', 'r3']) await createMap(name);
    const first = await openTestWatch(server, `${configMaps}?watch=true&resourceVersion=${from}`);
    const line = await first.next();
    first.abort();
    const version = line?.object.metadata.resourceVersion;
    const second = await openTestWatch(server, `${configMaps}?watch=true&resourceVersion=${version}`);
    assert.equal(await nextNamed(second), 'ADDED r2');
    assert.equal(await nextNamed(second), 'ADDED r3');
    second.abort();
  });

  for (const version of ['', '0']) {
    it(`begins with all objects at version "${version}"`, async () => {
      const own = await startTestServer({ bare: true });
      await own.call('POST', '/api/v1/namespaces', { metadata: { name: 'one' } });
      const watch = await openTestWatch(own, `/api/v1/namespaces?watch=true&resourceVersion=${version}`);
      assert.equal(await nextNamed(watch), 'ADDED one');
      await own.call('POST', '/api/v1/namespaces', { metadata: { name: 'two' } });
      assert.equal(await nextNamed(watch), 'ADDED two');
      watch.abort();
      await own.stop();
    });
  }

  it('reports objects that enter or leave a selector', async () => {
    const watch = await openTestWatch(
      server,
      `${configMaps}?watch=true&labelSelector=on%3Dyes&resourceVersion=${await now()}`,
    );
    await createMap('s1');
    await createMap('s2', { on: 'yes' });
    await label('s1', { on: 'yes' });
    await label('s1', { more: 'x' });
    const left = (await label('s1', { on: 'no' })).json();
    await server.call('DELETE', `${configMaps}/s1`);
    await server.call('DELETE', `${configMaps}/s2`);
    assert.equal(await nextNamed(watch), 'ADDED s2');
    assert.equal(await nextNamed(watch), 'ADDED s1');
    assert.equal(await nextNamed(watch), 'MODIFIED s1');
    const out = await watch.next();
    assert.equal(out?.type, 'DELETED');
    assert.equal(out?.object.metadata.labels?.on, 'yes');
    assert.equal(out?.object.metadata.resourceVersion, left.metadata.resourceVersion);
    assert.equal(await nextNamed(watch), 'DELETED s2');
    watch.abort();
  });

  it('watches one object by its field, and by its name', async () => {
    await createMap('f1');
    await createMap('f2');
    for (const path of [
      `${configMaps}?fieldSelector=metadata.name%3Df2&watch=true&resourceVersion=0`,
      `${configMaps}/f2?watch=true`,
    ]) {
      const watch = await openTestWatch(server, path);
      assert.equal(await nextNamed(watch), 'ADDED f2');
      await label('f1', { t: String(Math.random()).slice(2) });
      await label('f2', { t: String(Math.random()).slice(2) });
      assert.equal(await nextNamed(watch), 'MODIFIED f2');
      watch.abort();
    }
  });

  it('sends bookmarks each minute and before its end', async () => {
    const own = await startTestServer();
    const from = (await own.call('GET', configMaps)).json<KubeList>().metadata.resourceVersion;
    const watch = await openTestWatch(
      own,
      `${configMaps}?watch=true&allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion=${from}`,
    );
    // Another object advances the resourceVersion.
    const other = await own.call('POST', '/api/v1/namespaces/kube-system/configmaps', {
      metadata: { name: 'x' },
    });
    await own.cache.waitUntil(await own.store.currentRevision());
    await own.clock.advance(60_100);
    const first = await watch.next();
    assert.deepEqual(first, {
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { resourceVersion: other.json().metadata.resourceVersion, creationTimestamp: null },
      },
    });
    await own.clock.advance(30_000);
    const rest = await watch.rest();
    assert.deepEqual(
      rest.map(({ type }) => type),
      ['BOOKMARK'],
    );
    assert.equal(own.clock.pending, 0);
    await own.stop();
  });

  it('of a node ends after ten minutes for any requested timeout, since its Node may have been deleted', async () => {
    const own = await startTestServer();
    const user = { name: 'system:node:n1', groups: ['system:nodes'] };
    await own.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    for (const ask of ['', '&timeoutSeconds=86400']) {
      const services = `/api/v1/services?watch=true${ask}`;
      const watch = await openTestWatch(own, services, {}, user);
      const rest = watch.rest();
      let over = false;
      void rest.then(() => {
        over = true;
      });
      await own.clock.advance(599_000);
      assert.equal(over, false);
      await own.clock.advance(1_000);
      assert.equal(over, true);
      const others = await openTestWatch(own, services);
      const events = others.rest();
      await own.clock.advance(601_000);
      others.abort();
      assert.ok((await events).length > 0);
    }
    await own.stop();
  });

  it('sends the existing objects to clients that request initial events', async () => {
    const own = await startTestServer();
    await own.call('POST', configMaps, { metadata: { name: 'i1' } });
    const made = await own.call('POST', configMaps, { metadata: { name: 'i2' } });
    const query =
      'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
    const watch = await openTestWatch(own, `${configMaps}?${query}`);
    assert.equal(await nextNamed(watch), 'ADDED i1');
    assert.equal(await nextNamed(watch), 'ADDED i2');
    const end = await watch.next();
    assert.equal(end?.type, 'BOOKMARK');
    assert.deepEqual(end?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
    assert.equal(end?.object.metadata.resourceVersion, made.json().metadata.resourceVersion);
    await own.call('POST', configMaps, { metadata: { name: 'i3' } });
    assert.equal(await nextNamed(watch), 'ADDED i3');
    watch.abort();
    const refused = await openTestWatch(own, `${configMaps}?watch=true&sendInitialEvents=true`);
    assert.equal(refused.status, 422);
    await own.stop();
  });

  it('reports expired history and ends', async () => {
    const history = { minEvents: 1, maxEvents: 2, maxAgeMs: 1, maxBytes: 1 << 20 };
    const own = await startTestServer({ history });
    const from = (await own.call('GET', configMaps)).json<KubeList>().metadata.resourceVersion;
    for (const name of ['h1', 'h2', 'h3', 'h4']) await own.call('POST', configMaps, { metadata: { name } });
    await own.cache.waitUntil(await own.store.currentRevision());
    const watch = await openTestWatch(own, `${configMaps}?watch=true&resourceVersion=${from}`);
    assert.equal(watch.status, 200);
    const [line, ...more] = await watch.rest();
    assert.equal(line?.type, 'ERROR');
    const status = line?.object as unknown as Status;
    assert.equal(status.code, 410);
    assert.equal(status.reason, 'Expired');
    assert.equal(status.message, `too old resource version: ${from} (${own.cache.revision})`);
    assert.deepEqual(more, []);
    assert.equal(own.clock.pending, 0);
    await own.stop();
  });

  it('sends tables, with columns once', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
    const watch = await openTestWatch(server, `${configMaps}?watch=true&resourceVersion=${await now()}`, {
      accept,
    });
    await createMap('t1');
    await label('t1', { a: 'b' });
    const first = await watch.next();
    assert.equal(first?.object.kind, 'Table');
    assert.ok(Array.isArray(first?.object.columnDefinitions));
    const second = await watch.next();
    assert.equal(second?.object.columnDefinitions, null);
    const rows = second?.object.rows as { object: { metadata: { name: string } } }[];
    assert.deepEqual(
      rows.map(({ object }) => object.metadata.name),
      ['t1'],
    );
    watch.abort();
  });

  it('releases everything when the client disconnects or the server stops', async () => {
    const own = await startTestServer();
    const path = `${configMaps}?watch=true&allowWatchBookmarks=true`;
    const gone = await openTestWatch(own, path);
    assert.ok(own.clock.pending > 0);
    assert.equal((await own.call('HEAD', path)).status, 200);
    gone.abort();
    await own.clock.settle();
    assert.equal(own.clock.pending, 0);
    const shutdown = new AbortController();
    const request = new Request(`https://apiserver${path}`);
    const user = { name: 'x', groups: ['system:masters'] };
    const response = await own.app.fetch(request, { user, shutdown: shutdown.signal });
    const reading = response.text();
    shutdown.abort();
    await reading;
    assert.equal(own.clock.pending, 0);
    await own.stop();
  });

  it('is refused for a second by a server that stops, so that no client lists again', async () => {
    const own = await startTestServer();
    const request = new Request(`https://apiserver${configMaps}?watch=true&resourceVersion=1`);
    const response = await own.app.fetch(request, { user: admin, shutdown: AbortSignal.abort() });
    assert.deepEqual([response.status, response.headers.get('retry-after')], [429, '1']);
    await own.stop();
  });

  describe('a watch of a client that does not read', () => {
    const open = async () => {
      const own = await startTestServer();
      const hungUp = { times: 0 };
      const request = new Request(`https://apiserver${configMaps}?watch=true&resourceVersion=0`);
      const response = await own.app.fetch(request, { user: admin, hangUp: () => void hungUp.times++ });
      const reader = response.body?.getReader();
      assert.ok(reader);
      const write = async (name: string, bytes: number) => {
        const made = await own.call('POST', configMaps, {
          metadata: { name },
          data: { text: 'x'.repeat(bytes) },
        });
        assert.equal(made.status, 201);
        await own.cache.waitUntil(Number(made.json().metadata.resourceVersion));
        await own.clock.advance(5);
      };
      return { own, reader, hungUp, write };
    };

    it('is cut off when it has too much unread data', async () => {
      const { own, hungUp, write } = await open();
      for (let number = 0; number < 12; number++) await write(`large-${number}`, 900_000);
      assert.equal(hungUp.times, 1);
      assert.equal(own.clock.pending, 0);
      await own.stop();
    });

    it('is cut off when data is unread for too long, and not before', async () => {
      const { own, hungUp, write } = await open();
      await write('small', 100_000);
      await own.clock.advance(29_000);
      assert.equal(hungUp.times, 0);
      await own.clock.advance(1001);
      assert.equal(hungUp.times, 1);
      assert.equal(own.clock.pending, 0);
      await own.stop();
    });

    it('is cut off when it reads too slowly ever to finish', async () => {
      const { own, reader, hungUp, write } = await open();
      for (let number = 0; number < 5; number++) await write(`m-${number}`, 900_000);
      for (let times = 0; times < 9; times++) {
        await reader.read();
        await own.clock.advance(3000);
      }
      assert.equal(hungUp.times, 0);
      await own.clock.advance(4000);
      assert.equal(hungUp.times, 1);
      await own.stop();
    });

    it('is kept when it reads late, and then has no timer', async () => {
      const { own, reader, hungUp, write } = await open();
      const waiting = own.clock.pending;
      for (let number = 0; number < 5; number++) {
        await write(`m-${number}`, 900_000);
        await own.clock.advance(29_000);
        for (let bytes = 0; bytes < 900_000; ) bytes += (await reader.read()).value?.length ?? 0;
      }
      await own.clock.advance(30_000);
      assert.equal(hungUp.times, 0);
      assert.equal(own.clock.pending, waiting);
      await reader.cancel();
      await own.stop();
    });

    it('has an error event when it shares its connection', async () => {
      const own = await startTestServer();
      await own.call('POST', configMaps, { metadata: { name: 'a' } });
      const request = new Request(`https://apiserver${configMaps}?watch=true`);
      const { body } = await own.handlerFor(admin)(request);
      await own.clock.advance(30_000);
      await assert.rejects(new Response(body).text(), /did not read the response in time/);
      await own.stop();
    });

    it('is cut off while the existing objects are still being sent', async () => {
      const own = await startTestServer();
      for (let number = 0; number < 3; number++) {
        const body = { metadata: { name: `m-${number}` }, data: { text: 'x'.repeat(200_000) } };
        await own.call('POST', configMaps, body);
      }
      let hungUp = 0;
      const request = new Request(`https://apiserver${configMaps}?watch=true`);
      const response = await own.app.fetch(request, { user: admin, hangUp: () => void hungUp++ });
      assert.equal(response.status, 200);
      await own.clock.advance(31_000);
      assert.equal(hungUp, 1);
      assert.equal(own.clock.pending, 0);
      await own.stop();
    });
  });
});

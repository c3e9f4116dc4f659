/** Warnings of a kind about an accepted object reach the writer once. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Namespace, namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { KindSet } from '../../../../src/apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { registry } from '../../../../src/features/kinds.ts';
import { RevisionMismatchError, type Store } from '../../../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

const label = ({ metadata }: Namespace) => metadata.labels?.team ?? 'nobody';

const telling: ResourceDefinition<Namespace> = {
  ...namespaceResource,
  strategy: {
    ...namespaceResource.strategy,
    warnings: (object, old) => [`${old ? label(old) : 'nothing'} became ${label(object)}`],
  },
};

const names = '/api/v1/namespaces';
const body = (team: string, more = {}) => ({ metadata: { name: 'web', labels: { team } }, ...more });

describe('warnings of a kind', () => {
  let server: TestServer;
  let loseRace = false;
  /** The first write after `loseRace` finds that another write was faster. */
  const wrapStore = (store: Store): Store => ({
    ...store,
    async update(key, ...rest) {
      if (loseRace) {
        loseRace = false;
        const current = await store.get(key);
        throw new RevisionMismatchError(key, current);
      }
      return store.update(key, ...rest);
    },
  });
  before(async () => {
    const kinds = new KindSet(
      registry.map((kind) => (kind.kind === 'Namespace' ? (telling as unknown as ResourceDefinition) : kind)),
    );
    server = await startTestServer({ kinds, wrapStore });
  });
  after(() => server.stop());

  const warned = async (method: string, path: string, sent: unknown, type?: string) => {
    const headers: Record<string, string> = type ? { 'content-type': type } : {};
    const answer = await server.call(method, path, sent, { headers });
    return [answer.status, answer.headers.get('warning')];
  };

  test('are returned for a new object, also in a dry run', async () => {
    assert.deepEqual(await warned('POST', `${names}?dryRun=All`, body('a')), [
      201,
      '299 - "nothing became a"',
    ]);
    assert.deepEqual(await warned('POST', names, body('a')), [201, '299 - "nothing became a"']);
  });

  test('are returned for the changed object, with the old one', async () => {
    assert.deepEqual(await warned('PUT', `${names}/web`, body('b')), [200, '299 - "a became b"']);
    const patch = { metadata: { labels: { team: 'c' } } };
    const type = 'application/merge-patch+json';
    assert.deepEqual(await warned('PATCH', `${names}/web`, patch, type), [200, '299 - "b became c"']);
  });

  test('are returned once if another writer was faster', async () => {
    loseRace = true;
    assert.deepEqual(await warned('PUT', `${names}/web`, body('d')), [200, '299 - "c became d"']);
    assert.equal(loseRace, false);
  });

  test('are not returned for a rejected object, or for its status', async () => {
    assert.deepEqual(await warned('POST', names, { metadata: { name: 'A' } }), [422, null]);
    assert.deepEqual(await warned('PUT', `${names}/web`, body('a b')), [422, null]);
    const status = body('d', { status: { phase: 'Active' } });
    assert.deepEqual(await warned('PUT', `${names}/web/status`, status), [200, null]);
  });
});

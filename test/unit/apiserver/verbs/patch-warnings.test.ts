/** A patch gets each warning about its own fields once, and none about fields that were there before. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { RevisionMismatchError, type Store } from '../../../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

const pods = '/api/v1/namespaces/default/pods';

describe('warnings of a patch', () => {
  let server: TestServer;
  let loseRace = false;
  const wrapStore = (store: Store): Store => ({
    ...store,
    async update(key, ...rest) {
      if (!loseRace) return store.update(key, ...rest);
      loseRace = false;
      throw new RevisionMismatchError(key, await store.get(key));
    },
  });
  before(async () => {
    server = await startTestServer({ wrapStore });
    const made = await server.call('POST', pods, {
      metadata: { name: 'web' },
      spec: {
        containers: [{ name: 'c', image: 'i', securityContext: { windowsOptions: { runAsUserName: 'a' } } }],
      },
    });
    assert.equal(made.status, 201, made.text);
    assert.match(made.headers.get('warning') ?? '', /windowsOptions: known to Kubernetes, not acted on/);
  });
  after(() => server.stop());

  const patched = async (body: unknown) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer = await server.call('PATCH', `${pods}/web`, body, { headers });
    assert.equal(answer.status, 200, answer.text);
    return answer.headers.get('warning');
  };

  test('name a field that is unknown, also when another writer was faster', async () => {
    assert.equal(await patched({ dta: 1 }), '299 - "unknown field \\"dta\\""');
    loseRace = true;
    assert.equal(
      await patched({ dta: 1, metadata: { labels: { a: '1' } } }),
      '299 - "unknown field \\"dta\\""',
    );
    assert.equal(loseRace, false);
  });

  test('do not repeat those of the accepted object', async () => {
    assert.equal(await patched({ metadata: { labels: { a: '2' } } }), null);
  });
});

test('a body without a content type, or with text/plain, is read as JSON', async () => {
  const server = await startTestServer();
  const path = '/api/v1/namespaces/default/configmaps';
  for (const [name, type] of [
    ['a', ''],
    ['b', 'text/plain'],
    ['c', 'text/plain;charset=UTF-8'],
  ] as const) {
    const body = JSON.stringify({ metadata: { name } });
    const answer = await server.call('POST', path, body, { headers: { 'content-type': type } });
    assert.equal(answer.status, 201, `${type}: ${answer.text}`);
  }
  const refused = await server.call('POST', path, '{}', { headers: { 'content-type': 'x-text/plain' } });
  assert.equal(refused.status, 415);
  await server.stop();
});

/** Lists that are too large for one chunk. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
  const data = { text: 'x'.repeat(4000) };
  for (let number = 0; number < 100; number++) {
    const metadata = { name: `map-${number}`, namespace: 'default' };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    await server.call('POST', '/api/v1/namespaces/default/configmaps', body);
  }
});
after(() => server.stop());

const list = (limit: number) => server.call('GET', `/api/v1/namespaces/default/configmaps?limit=${limit}`);

for (const [limit, connection] of [
  [10, null],
  [40, null],
  [100, 'close'],
] as const) {
  it(`a list with the limit ${limit} is complete, and ${connection === null ? 'leaves the connection open' : 'is the last of its connection'}`, async () => {
    const answer = await list(limit);
    assert.equal(answer.json<{ items: unknown[] }>().items.length, limit);
    assert.equal(answer.headers.get('connection'), connection);
  });
}

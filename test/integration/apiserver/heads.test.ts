/** Request heads that would take long to parse are rejected before parsing. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { senderUsers } from '../../fixtures/worst-bodies.ts';

describe('the server with heads that take long to parse', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const ask = async (path: string, headers: Record<string, string>, known: boolean) => {
    const user = known ? senderUsers.admin : undefined;
    const request = new Request(`https://apiserver${path}`, { headers });
    const answer = await server.app.fetch(request, user ? { user } : {});
    return { status: answer.status, text: await answer.text() };
  };
  const paths = [
    '/livez',
    '/readyz/ping',
    '/version',
    '/api',
    '/openapi/v3',
    '/none',
    '/api/v1/nodes/na',
    '/api/v1/secrets',
  ];

  it('rejects a query with more than 10,000 parameters, on every path and from every user', async () => {
    for (const path of paths) {
      for (const known of [true, false]) {
        for (const parameter of ['&', 'a&', 'exclude=a&']) {
          const { status, text } = await ask(`${path}?${parameter.repeat(10_001)}`, {}, known);
          assert.equal(status, 414, `${path} ${parameter} ${known}`);
          const { kind, reason, code, message } = JSON.parse(text);
          assert.deepEqual([kind, reason, code], ['Status', 'RequestURITooLong', 414]);
          assert.match(message, /more than 10000 parameters/);
        }
      }
    }
  });

  it('accepts 10,000 parameters, and as many ampersands within values', async () => {
    assert.equal((await ask(`/api/v1/secrets?${'a&'.repeat(9999)}`, {}, true)).status, 200);
    assert.equal((await ask(`/api/v1/secrets?a=${'%26'.repeat(20_000)}`, {}, true)).status, 200);
    assert.equal((await ask(`/livez?${'a&'.repeat(9999)}`, {}, false)).status, 200);
  });

  it('answers 406 to an Accept header of more than 4 kB on every path', async () => {
    const read = ['/api', '/apis', '/openapi/v2', '/api/v1/secrets', '/api/v1/namespaces/default/pods'];
    for (const path of read) {
      for (const accept of [
        'application/json,'.repeat(300),
        `${','.repeat(5000)}*/*`,
        `*/*${';'.repeat(5000)}`,
      ]) {
        const { status, text } = await ask(path, { accept }, true);
        assert.equal(status, 406, path);
        assert.match(JSON.parse(text).message, /the Accept header is longer than 4096 bytes/);
      }
      assert.equal((await ask(path, { accept: `${'text/x,'.repeat(500)}*/*` }, true)).status, 200, path);
    }
    // The error is reported in JSON even when the Accept header is rejected.
    assert.equal((await ask('/api/v1/secrets', { accept: ','.repeat(5000) }, false)).status, 401);
  });

  it('answers 400 to other lists that are too long', async () => {
    for (const [name, longest] of [
      ['content-type', 4096],
      ['connection', 4096],
      ['upgrade', 4096],
      ['x-stream-protocol-version', 4096],
      ['sec-websocket-protocol', 16_384],
    ] as const) {
      const { status, text } = await ask('/api/v1/secrets', { [name]: 'a,'.repeat(longest / 2 + 1) }, true);
      assert.equal(status, 400, name);
      assert.equal(JSON.parse(text).message, `the header ${name} is longer than ${longest} bytes`);
      assert.equal(
        (await ask('/api/v1/secrets', { [name]: 'a,'.repeat(longest / 2) }, true)).status,
        200,
        name,
      );
    }
  });
});

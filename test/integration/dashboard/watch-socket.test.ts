/** Watches by WebSocket, as browsers use them: each event is a message. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { type ClientOptions, WebSocket } from 'ws';
import { until } from '../../fixtures/eventually.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const collection = '/api/v1/namespaces/default/configmaps';

interface Event {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
  };
}

describe('a watch by WebSocket', () => {
  let server: HttpsTestServer;
  let identity: ClientOptions;
  before(async () => {
    server = await startHttpsTestServer();
    const { key, certificate } = await server.clientCertificate('alice', ['system:masters']);
    identity = { ca: server.authority.certificate, key, cert: certificate };
  });
  after(() => server.stop());

  const open = (query: string, protocols: string[] = [], options: ClientOptions = {}) => {
    const address = `wss://127.0.0.1:${server.port}${collection}?watch=true${query}`;
    const socket = new WebSocket(address, protocols, { ...identity, ...options });
    const events: Event[] = [];
    socket.on('message', (data, isBinary) => {
      assert.equal(isBinary, false);
      events.push(JSON.parse(String(data)));
    });
    return { socket, events };
  };
  const make = async (name: string) => {
    const answer = await server.call('POST', collection, { metadata: { name }, data: { text: 'a\nb' } });
    assert.equal(answer.status, 201, answer.text);
    return answer.json().metadata.resourceVersion ?? '';
  };
  const refusal = async (socket: WebSocket): Promise<number> => {
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    socket.on('error', () => undefined);
    socket.terminate();
    return response.statusCode;
  };

  it('sends the existing objects and later changes, each event as one message', async () => {
    await make('first');
    const { socket, events } = open('', ['watch.minik8s']);
    await once(socket, 'open');
    assert.equal(socket.protocol, 'watch.minik8s');
    await until(() => events.some(({ object }) => object.metadata.name === 'first'));
    await make('second');
    assert.equal((await server.call('DELETE', `${collection}/second`)).status, 200);
    await until(() => events.some(({ type }) => type === 'DELETED'));
    const seen = events.filter(({ object }) => object.metadata.name === 'second').map(({ type }) => type);
    assert.deepEqual(seen, ['ADDED', 'DELETED']);
    socket.close();
    await once(socket, 'close');
  });

  it('resumes at a revision, sends tables if they are requested, and ends after its timeout', async () => {
    const revision = await make('third');
    await make('fourth');
    const table = Buffer.from('application/json;as=Table;v=v1;g=meta.k8s.io').toString('base64url');
    const { socket, events } = open(`&resourceVersion=${revision}&timeoutSeconds=1`, [
      'x',
      `minik8s.accept.${table}`,
    ]);
    const [code] = (await once(socket, 'close')) as [number];
    assert.equal(code, 1000);
    assert.equal(socket.protocol, 'x');
    assert.deepEqual(
      events.map(({ object }) => object.kind),
      ['Table'],
    );
  });

  it('is rejected by a status without credentials, for a missing kind, at an invalid revision, and for YAML', async () => {
    const { socket: stranger } = open('', [], { key: '', cert: '' });
    assert.equal(await refusal(stranger), 401);
    const missing = new WebSocket(`wss://127.0.0.1:${server.port}/api/v1/wrong?watch=true`, identity);
    assert.equal(await refusal(missing), 404);
    assert.equal(await refusal(open('&resourceVersion=x').socket), 400);
    const yaml = Buffer.from('application/yaml').toString('base64url');
    assert.ok([406, 415].includes(await refusal(open('', ['x', `minik8s.accept.${yaml}`]).socket)));
  });

  it('ignores short messages of the client, and ends after a long one', async () => {
    const { socket, events } = open('');
    await once(socket, 'open');
    socket.send('hello');
    await make('fifth');
    await until(() => events.some(({ object }) => object.metadata.name === 'fifth'));
    socket.send('x'.repeat(5000));
    const [code] = (await once(socket, 'close')) as [number];
    assert.equal(code, 1009);
  });
});

/** ServiceTraffic: answers that are made from the reports of node agents. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { ServiceTraffic } from '../../../../src/api/traffic/v1/service-traffic.ts';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

const root = '/apis/minik8s.io/v1';
const at = Date.UTC(2026, 0, 1);

describe('the traffic of Services', () => {
  let server: TestServer;
  let agents: Map<string, () => unknown>;
  let asked: string[];
  beforeEach(async () => {
    [agents, asked] = [new Map(), []];
    server = await startTestServer({
      nodeConnection: async (node, path) => {
        asked.push(`${node} ${path}`);
        const answer = agents.get(node);
        if (!answer) throw new Error('no handler answers');
        return Response.json(answer());
      },
    });
    for (const name of ['n1', 'n2']) await server.call('POST', '/api/v1/nodes', { metadata: { name } });
    for (const name of ['web', 'idle']) {
      const spec = { ports: [{ port: 80 }], selector: { app: name } };
      const made = await server.call('POST', '/api/v1/namespaces/default/services', {
        ...{ metadata: { name, labels: { app: name } }, spec },
      });
      assert.equal(made.status, 201, made.text);
    }
  });
  afterEach(() => server.stop());

  const to = (address: string, perSecond: unknown, service = 'web', namespace = 'default') => ({
    ...{ namespace, service, address, port: 8080, perSecond },
  });
  const tell = (node: string, ...endpoints: object[]) =>
    agents.set(node, () => ({ at, windowMs: 10_012, endpoints }));
  const list = async (path: string) => {
    const answer = await server.call('GET', `${root}${path}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<{ readonly items: readonly ServiceTraffic[] }>().items;
  };

  test('is the sum of what all nodes report of each endpoint, the busiest first', async () => {
    tell('n1', to('10.244.0.2', 1.25), to('10.244.0.3', 4));
    tell('n2', to('10.244.0.2', 5));
    const items = await list('/servicetraffics');
    assert.deepEqual(
      items.map(({ metadata, timestamp, window, connectionsPerSecond, endpoints }) => ({
        ...{ name: metadata.name, labels: metadata.labels, timestamp, window, connectionsPerSecond },
        endpoints,
      })),
      [
        {
          ...{ name: 'web', labels: { app: 'web' }, timestamp: '2026-01-01T00:00:00Z', window: '10s' },
          connectionsPerSecond: '10250m',
          endpoints: [
            { address: '10.244.0.2', port: 8080, connectionsPerSecond: '6250m' },
            { address: '10.244.0.3', port: 8080, connectionsPerSecond: '4000m' },
          ],
        },
      ],
    );
    assert.deepEqual(asked.sort(), ['n1 /stats/services', 'n2 /stats/services']);
  });

  test('is 0 for a Service without connections that is requested by name', async () => {
    tell('n1', to('10.244.0.2', 1));
    const answer = await server.call('GET', `${root}/namespaces/default/servicetraffics/idle`);
    const { kind, connectionsPerSecond, endpoints } = answer.json<ServiceTraffic>();
    assert.deepEqual([kind, connectionsPerSecond, endpoints], ['ServiceTraffic', '0', []]);
    const none = await server.call('GET', `${root}/namespaces/default/servicetraffics/none`);
    assert.equal(none.status, 404);
  });

  test('is that of the selected namespace and labels only', async () => {
    tell('n1', to('10.244.0.2', 1), to('10.244.0.9', 1, 'idle'), to('10.244.0.9', 1, 'web', 'other'));
    const names = async (path: string) => (await list(path)).map(({ metadata }) => metadata.name);
    assert.deepEqual(await names('/namespaces/default/servicetraffics'), ['idle', 'web']);
    assert.deepEqual(await names('/servicetraffics?labelSelector=app%3Dweb'), ['web']);
    assert.deepEqual(await names('/namespaces/other/servicetraffics'), []);
  });

  test('asks a node again after a second that has no second reading yet', async () => {
    tell('n2');
    agents.set('n1', () =>
      asked.length > 2 ? { at, windowMs: 1000, endpoints: [to('10.244.0.2', 3)] } : {},
    );
    const answer = list('/servicetraffics');
    await server.clock.settle();
    await server.clock.advance(1000);
    assert.deepEqual(
      (await answer).map((one) => one.connectionsPerSecond),
      ['3000m'],
    );
  });

  test('omits what a node reports in any other form', async () => {
    const odd = [null, 7, 'x', {}, to('10.244.0.4', '7'), to('10.244.0.4', -1), to('10.244.0.4', 1e300)];
    agents.set('n1', () => ({ at: 'x', windowMs: 1e300, endpoints: 7 }));
    agents.set('n2', () => ({ at, windowMs: 1000, endpoints: [...odd, to('10.244.0.2', 0.0001)] }));
    const answer = list('/servicetraffics');
    await server.clock.settle();
    await server.clock.advance(1000);
    assert.deepEqual(
      (await answer).map((one) => one.endpoints),
      [[{ address: '10.244.0.2', port: 8080, connectionsPerSecond: '1m' }]],
    );
  });

  test('cannot be written or watched', async () => {
    assert.equal((await server.call('POST', `${root}/namespaces/default/servicetraffics`, {})).status, 405);
    assert.equal((await server.call('GET', `${root}/servicetraffics?watch=true`)).status, 405);
  });
});

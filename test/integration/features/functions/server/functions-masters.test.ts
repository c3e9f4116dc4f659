/** Calls of one function through two masters, which share nothing but the store. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import {
  functionLabel,
  functionVersionLabel,
  instancePort,
} from '../../../../../src/features/functions/api/function-instance.ts';
import { notCalledHeader } from '../../../../../src/features/functions/server/exchange.ts';
import type { Store } from '../../../../../src/storage/store.ts';
import { startTestServer, type TestServer } from '../../../../fixtures/api-server.ts';
import { eventually } from '../../../../fixtures/eventually.ts';

const namespace = '/apis/minik8s.io/v1/namespaces/default';
const path = `${namespace}/functions/work`;
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const masters: TestServer[] = [];

before(async () => {
  let shared: Store | undefined;
  for (const master of ['one', 'two']) {
    const server: TestServer = await startTestServer({
      clock: systemClock,
      // The objects that every cluster has exist already.
      bare: master !== 'one',
      wrapStore: (store) => {
        shared ??= store;
        return shared;
      },
      functionCalls: {
        master,
        reachesPod: () => true,
        writeDemand: async (_, name, instances) => {
          const body = { status: { demand: { [master]: instances } } };
          await server.call('PATCH', `${namespace}/functions/${name}/status`, body, merge);
        },
      },
    });
    masters.push(server);
  }
});
after(async () => {
  for (const server of masters) await server.stop();
});

/**
 * Starts an instance whose program takes one call at a time. No master is informed of the other master's
 * calls.
 */
async function instance(server: TestServer, { metadata }: Fn, ip: string, took: (id: string) => void) {
  let busy = false;
  const program = createServer((incoming, outgoing) => {
    incoming.resume();
    if (busy) return void outgoing.writeHead(503, { [notCalledHeader]: 'busy' }).end();
    busy = true;
    took(String(incoming.headers['function-call-id']));
    setTimeout(() => {
      busy = false;
      outgoing.end('{"done":true}');
    }, 5);
  });
  await new Promise<void>((resolve) => program.listen(instancePort, ip, resolve));
  after(() => {
    program.closeAllConnections();
    program.close();
  });
  const { name, uid } = metadata;
  const owner = { apiVersion: 'minik8s.io/v1', kind: 'Function', name, uid, controller: true };
  const pod = `work-${ip.replaceAll('.', '-')}`;
  const labels = { [functionLabel]: name, [functionVersionLabel]: 'v1' };
  const spec = { nodeName: 'n1', containers: [{ name: 'function', image: 'app:1' }] };
  const pods = '/api/v1/namespaces/default/pods';
  const body = { metadata: { name: pod, labels, ownerReferences: [owner] }, spec };
  assert.equal((await server.call('POST', pods, body)).status, 201);
  const container = { name: 'function', ready: true, restartCount: 0, image: 'app:1', imageID: '' };
  const containerStatuses = [{ ...container, state: { running: {} } }];
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], containerStatuses };
  assert.equal((await server.call('PATCH', `${pods}/${pod}/status`, { status }, merge)).status, 200);
}

test('calls through two masters are each made once, and each master publishes its demand', async () => {
  const [one, two] = masters as [TestServer, TestServer];
  const spec = { image: 'app:1', concurrency: 1, timeoutSeconds: 60 };
  const created = await one.call('POST', `${namespace}/functions`, { metadata: { name: 'work' }, spec });
  assert.equal(created.status, 201, created.text);
  const status = { status: { activeVersion: 'v1' } };
  const fn = (await one.call('PATCH', `${path}/status`, status, merge)).json<Fn>();
  await eventually(systemClock, 'the other master to know it', async () => {
    const { status: code, text } = await two.call('GET', path);
    return code === 200 && text.includes('activeVersion');
  });

  // No instance runs: the calls wait, and both masters request instances.
  const ids = Array.from({ length: 40 }, (_, number) => `call-${number}`);
  const calls = ids.map((id, number) =>
    (number % 2 === 0 ? one : two).call(
      'POST',
      `${path}/invoke`,
      {},
      { headers: { 'function-call-id': id } },
    ),
  );
  await eventually(systemClock, 'the demand of both', async () => {
    const { demand = {} } = (await one.call('GET', path)).json<Fn>().status ?? {};
    return Number(demand.one) > 0 && Number(demand.two) > 0;
  });
  const made: string[] = [];
  for (const ip of ['127.0.2.1', '127.0.2.2']) await instance(one, fn, ip, (id) => made.push(id));
  const answers = await Promise.all(calls);
  assert.deepEqual(
    answers.map(({ status: code, text }) => [code, text]),
    ids.map(() => [200, '{"done":true}']),
  );
  assert.deepEqual(made.sort(), ids.sort());
});

/**
 * A server with a gateway that is killed while anonymous clients and nodes attack functions, and is
 * started again with the same etcd. The attacks continue meanwhile, and reach the next server as soon as
 * it listens.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { request as send } from 'node:https';
import { connect, createServer as createPlainServer, type Server } from 'node:net';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import type { Fn } from '../../../src/features/functions/api/function.ts';
import {
  functionLabel,
  functionVersionLabel,
  instancePort,
} from '../../../src/features/functions/api/function-instance.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { type FunctionProgram, startFunction } from '../../fixtures/function-program.ts';
import { Killed } from '../../fixtures/killed-server.ts';

const limit = { timeout: 240_000 };
const functions = '/apis/minik8s.io/v1/namespaces/default/functions';
const pods = '/api/v1/namespaces/default/pods';
const merge = 'application/merge-patch+json';
/** First three bytes of all addresses: files that run at the same time listen at the same port. */
const network = `127.${1 + (process.pid % 250)}.${Math.floor(process.pid / 250) % 250}`;
/** Range of the pods of each node; n1 is the node on the server's machine. */
const ranges = { n1: `${network}.0/25`, n2: `${network}.128/25` } as const;

let server: Killed;
let gatewayPort: number;
const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Starts a server with a gateway, two nodes, and a namespace for pods. */
async function start(): Promise<void> {
  gatewayPort = await freePort();
  server = await Killed.start({ gateway: { port: gatewayPort, node: 'n1' } });
  cleanUps.push(() => server.stop());
  for (const [name, podCIDR] of Object.entries(ranges)) await create('/api/v1/nodes', { name }, { podCIDR });
  await create('/api/v1/namespaces/default/serviceaccounts', { name: 'default' });
}

async function create(path: string, metadata: object, spec?: object) {
  const { status, text } = await server.call('POST', path, { metadata, ...(spec && { spec }) });
  assert.equal(status, 201, text);
  return (JSON.parse(text) as { metadata: Fn['metadata'] }).metadata;
}

/** Creates a public function with a version that is ready. */
async function makeFunction(name: string, spec: object): Promise<Fn['metadata']> {
  const made = await create(functions, { name }, { public: true, concurrency: 100, maxScale: 5, ...spec });
  const status = { activeVersion: 'v1' };
  const written = await server.call('PATCH', `${functions}/${name}/status`, { status }, merge);
  assert.equal(written.status, 200, written.text);
  return made;
}

const runningAt = (ip: string) => {
  const state = { running: {} };
  const one = { name: 'function', ready: true, restartCount: 0, image: 'app:1', imageID: '', state };
  return { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], containerStatuses: [one] } };
};

/** Writes that the pod runs at the address; resolves to the status of the answer, 0 if there is none. */
async function announce(node: keyof typeof ranges, pod: string, ip: string): Promise<number> {
  const as = { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes' };
  return (await server.call('PATCH', `${pods}/${pod}/status`, runningAt(ip), merge, as)).status;
}

/** Creates an instance of the function on the node; resolves to its UID. */
async function instance({ name, uid }: Fn['metadata'], node: keyof typeof ranges, pod: string, ip: string) {
  const owner = { apiVersion: 'minik8s.io/v1', kind: 'Function', name, uid, controller: true };
  const labels = { [functionLabel]: name, [functionVersionLabel]: 'v1' };
  const spec = { nodeName: node, containers: [{ name: 'function', image: 'app:1' }] };
  const made = await create(pods, { name: pod, labels, ownerReferences: [owner] }, spec);
  assert.equal(await announce(node, pod, ip), 200);
  return made.uid;
}

async function listen(program: Server, ip: string): Promise<void> {
  program.listen(instancePort, ip);
  await once(program, 'listening');
  cleanUps.push(() => new Promise((resolve) => program.close(resolve)));
}

/**
 * Calls a function as an anonymous client, over a new connection; resolves to status 0 if there is no answer.
 */
function callAsStranger(path: string, headers: Readonly<Record<string, string>>, body: object) {
  return new Promise<{ status: number; text: string }>((resolve) => {
    const none = () => resolve({ status: 0, text: '' });
    const to = { host: '127.0.0.1', port: gatewayPort, path, method: 'POST', agent: false };
    // Each start of the server has another authority.
    const sending = send({ ...to, headers, rejectUnauthorized: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.on('error', none).on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sending.on('error', none).end(JSON.stringify(body));
  });
}

/** Repeats an act without a pause until the test ends; the act must not reject. */
function repeat(act: () => Promise<unknown>): void {
  let goesOn = true;
  const acts = (async () => {
    while (goesOn) {
      await act();
      await sleep(2);
    }
  })();
  cleanUps.push(() => {
    goesOn = false;
    return acts;
  });
}

/** Starts the program of a function at the address of an instance. */
async function runAt(ip: string): Promise<FunctionProgram> {
  const source = `
const begun = [];
export async function handler(event, { callId, headers }) {
  if (event.who) begun.push(event.who);
  if (event.waitMs) await new Promise((resolve) => setTimeout(resolve, event.waitMs));
  return { who: event.who, callId, own: Object.keys(headers).filter((name) => /^function/.test(name)), begun };
}
`;
  const program = await startFunction('nodejs', { 'main.mjs': source }, { CONCURRENCY: '100' });
  cleanUps.push(() => program.close());
  const toProgram = createPlainServer((socket) => {
    const onward = connect(program.port, '127.0.0.1');
    socket.on('error', () => onward.destroy()).pipe(onward);
    onward.on('error', () => socket.destroy()).pipe(socket);
  });
  await listen(toProgram, ip);
  return program;
}

interface Called {
  readonly who: string;
  readonly callId: string;
  readonly own: readonly string[];
  readonly begun: readonly string[];
}

test(
  'a task that was in progress at a kill gets the answer of its own call, even if anonymous callers send the same ids',
  limit,
  async () => {
    await start();
    const fn = await makeFunction('pay', { runtime: 'nodejs', files: { 'main.mjs': '' } });
    const program = await runAt(`${network}.2`);
    const uid = await instance(fn, 'n1', 'pay-1', `${network}.2`);
    const begun = async () => ((await program.call({ body: {} })).json() as Called).begun;
    const run = randomUUID();
    const task = (n: number, waitMs = 0) => {
      const body = JSON.stringify({ who: `task ${n}`, waitMs });
      return { namespace: 'default', function: 'pay', id: `${run}.${n}-0`, body };
    };
    const [before, after] = [new Set<string>(), new Set<string>()];
    let answered = before;
    const wrong: string[] = [];
    let calls = 0;
    const attack = (n: number, path: string) =>
      repeat(async () => {
        const who = `stranger ${calls++}`;
        const id = task(n).id;
        const once = { 'function-once': '0', function_once: '0', 'function-repeat': 'true' };
        const { status, text } = await callAsStranger(path, { 'function-call-id': id, ...once }, { who });
        if (status === 0) return;
        answered.add(path);
        const called = status === 200 ? (JSON.parse(text) as Called) : undefined;
        const isOwn = called?.who === who && /^[0-9a-f-]{36}$/.test(called.callId);
        const own = called?.own.toSorted().join();
        if (!isOwn || own !== 'function-call-id,function-name,function-namespace')
          wrong.push(`${status} ${text.slice(0, 300)}`);
      });
    // A call with a space in its query is served by the app.
    const ways = ['/function/pay', '/function/pay?through=%20the|app'];
    for (const n of [1, 2]) for (const way of ways) attack(n, way);
    await eventually(systemClock, 'calls of strangers', () => before.size === ways.length);
    const first = server.process.task(task(1, 1500));
    first.catch(() => undefined);
    const sentAt = performance.now();
    await eventually(systemClock, 'the task has begun', async () => (await begun()).includes('task 1'));
    await server.kill();
    await assert.rejects(first, /the server ended/);
    answered = after;
    await server.again();
    const sent = { instance: uid, ageMs: performance.now() - sentAt };
    const again = await server.process.task({ ...task(1, 1500), sent });
    const next = await server.process.task(task(2));
    for (const [n, { type, text }] of [again, next].entries())
      assert.deepEqual([type, (JSON.parse(text) as Called).who], ['answered', `task ${n + 1}`], text);
    await eventually(systemClock, 'calls of strangers', () => after.size === ways.length);
    assert.deepEqual(wrong.slice(0, 3), []);
    const tasks = (await begun()).filter((who) => who.startsWith('task'));
    assert.deepEqual(tasks, ['task 1', 'task 2']);
  },
);

test(
  'an address that a node reports at a kill leads the next gateway neither to another listener nor to a pod of another node',
  limit,
  async () => {
    await start();
    const fn = await makeFunction('pay', { image: 'app:1', timeoutSeconds: 5 });
    const honest = createServer((incoming, outgoing) => {
      incoming.resume();
      outgoing.setHeader('connection', 'close').end('honest');
    });
    await listen(honest, `${network}.2`);
    await instance(fn, 'n1', 'honest', `${network}.2`);
    // The address is in the range of n2, and a listener of the server's machine has it.
    const other = `${network}.129`;
    let reached = 0;
    const listener = createPlainServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await listen(listener, other);
    await instance(fn, 'n1', 'here', `${network}.3`);
    await instance(fn, 'n2', 'there', `${network}.130`);
    const statuses = new Map<number, number>();
    for (let n = 0; n < 4; n++)
      repeat(async () => {
        const { status } = await callAsStranger('/function/pay', {}, {});
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
    const answers = (why: string) =>
      eventually(systemClock, why, () => (statuses.get(200) ?? 0) > 20).finally(() => statuses.clear());
    await answers('answers before the kill');
    // The server is killed while the announcements are on their way, and after both answers.
    for (const waitMs of [0, 5, undefined]) {
      const announced = Promise.all([announce('n1', 'here', other), announce('n2', 'there', other)]);
      await (waitMs === undefined ? announced : sleep(waitMs));
      await server.kill();
      const acknowledged = await announced;
      if (waitMs === undefined) assert.deepEqual(acknowledged, [200, 200]);
      statuses.clear();
      await server.again();
      const again = [await announce('n1', 'here', other), await announce('n2', 'there', other)];
      assert.deepEqual(again, [200, 200]);
      await answers('answers of the honest instance');
      assert.equal(reached, 0, `connections to the listener, killed after ${waitMs} ms`);
      for (const [node, pod, ip] of [
        ['n1', 'here', `${network}.3`],
        ['n2', 'there', `${network}.130`],
      ] as const)
        assert.equal(await announce(node, pod, ip), 200);
    }
  },
);

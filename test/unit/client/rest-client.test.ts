import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import {
  isConflict,
  isExpired,
  isNotFound,
  newConflict,
  newExpired,
  StatusError,
} from '../../../src/apimachinery/status-error.ts';
import type { WatchEvent } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { TransportError } from '../../../src/client/transport-error.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly type: string | null;
  readonly body: string;
}

/** A client whose requests get the given answers, one after the other. */
function scripted(answers: (Response | Error)[], clock?: FakeClock) {
  const seen: Seen[] = [];
  const transport = inProcessTransport(async (request) => {
    const url = new URL(request.url);
    seen.push({
      method: request.method,
      path: url.pathname + url.search,
      type: request.headers.get('content-type'),
      body: await request.text(),
    });
    const answer = answers.shift() ?? new Response('the script is over', { status: 500 });
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { seen, transport, client: createClient(transport, clock ? { clock } : {}) };
}

const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: 't' },
  spec: { containers: [] } as unknown as Pod['spec'],
});

const ok = () => Response.json(pod('web'));

test('requests have the paths of the Kubernetes API', async () => {
  const { client, seen } = scripted(Array.from({ length: 11 }, () => Response.json({ items: [] })));
  const pods = client.resource(podResource);
  const nodes = client.resource(nodeResource);
  await pods.get('web', 'default');
  await nodes.get('n1');
  await client.resource(deploymentResource).list({ namespace: 'a', labelSelector: 'x in (a,b)', limit: 5 });
  await pods.list();
  await pods.create(pod('web'));
  await pods.update(pod('web'));
  await pods.updateStatus(pod('web'));
  await pods.patch('web', 'default', 'strategic', { spec: {} });
  await nodes.patch('n1', '', 'json', [], 'status');
  await pods.delete('web', 'default', { gracePeriodSeconds: 0, preconditions: { uid: 'u' } });
  await pods.createSubresource('web', 'default', 'binding', { target: {} });
  assert.deepEqual(
    seen.map(({ method, path, type }) => [method, path, type]),
    [
      ['GET', '/api/v1/namespaces/default/pods/web', null],
      ['GET', '/api/v1/nodes/n1', null],
      ['GET', '/apis/apps/v1/namespaces/a/deployments?labelSelector=x+in+%28a%2Cb%29&limit=5', null],
      ['GET', '/api/v1/pods', null],
      ['POST', '/api/v1/namespaces/default/pods', 'application/json'],
      ['PUT', '/api/v1/namespaces/default/pods/web', 'application/json'],
      ['PUT', '/api/v1/namespaces/default/pods/web/status', 'application/json'],
      ['PATCH', '/api/v1/namespaces/default/pods/web', 'application/strategic-merge-patch+json'],
      ['PATCH', '/api/v1/nodes/n1/status', 'application/json-patch+json'],
      ['DELETE', '/api/v1/namespaces/default/pods/web', 'application/json'],
      ['POST', '/api/v1/namespaces/default/pods/web/binding', 'application/json'],
    ],
  );
  assert.deepEqual(JSON.parse(seen[9]?.body ?? ''), {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    gracePeriodSeconds: 0,
    preconditions: { uid: 'u' },
  });
});

test('a kind needs no definition, only its group, version and plural', async () => {
  const { client, seen } = scripted([Response.json({ items: [{ metadata: { name: 'x' } }] })]);
  const ref = { group: 'example.com', version: 'v1beta1', kind: 'Thing', plural: 'things', namespaced: true };
  const list = await client.resource(ref).list({ namespace: 'ns' });
  assert.equal(seen[0]?.path, '/apis/example.com/v1beta1/namespaces/ns/things');
  assert.deepEqual([list.items[0]?.kind, list.items[0]?.apiVersion], ['Thing', 'example.com/v1beta1']);
});

test('a missing name or namespace is rejected before a request is sent', async () => {
  const { client, seen } = scripted([]);
  const pods = client.resource(podResource);
  await assert.rejects(pods.get('web'), /pods "web": the namespace is missing/);
  await assert.rejects(pods.get('', 'default'), /pods: the name is empty/);
  await assert.rejects(
    pods.delete('..', 'default'),
    /pods "\.\.": no object or namespace is called \. or \.\./,
  );
  await assert.rejects(pods.get('web', '.'), /no object or namespace is called/);
  await assert.rejects(pods.create({ ...pod('web'), metadata: { name: 'web' } }), /namespace is missing/);
  assert.equal(seen.length, 0);
});

test('a name is encoded in the path', async () => {
  const { client, seen } = scripted([ok()]);
  await client.resource(podResource).get('../../secrets/x', 'default');
  assert.equal(seen[0]?.path, '/api/v1/namespaces/default/pods/..%2F..%2Fsecrets%2Fx');
});

test('a Status is thrown as the StatusError of the server', async () => {
  const conflict = newConflict({ group: '', plural: 'pods' }, 'web', 'it changed');
  const { client } = scripted([Response.json(conflict.status, { status: 409 })]);
  await assert.rejects(client.resource(podResource).update(pod('web')), (error) => {
    assert.ok(error instanceof StatusError && isConflict(error));
    assert.deepEqual(error.status, conflict.status);
    return true;
  });
});

for (const [body, text] of [
  ['404 page not found\n', '404 page not found'],
  ['{"kind":"Other"}', '{"kind":"Other"}'],
  ['{ not json', '{ not json'],
  ['', ''],
] as const) {
  test(`an error answer that is not a Status (${JSON.stringify(body)}) is converted to one`, async () => {
    const { client } = scripted([new Response(body, { status: 404 })]);
    await assert.rejects(client.resource(podResource).get('web', 'default'), (error) => {
      assert.ok(isNotFound(error) && error instanceof StatusError);
      const where = 'GET /api/v1/namespaces/default/pods/web answered 404';
      assert.equal(error.message, text ? `${where}: ${text}` : where);
      return true;
    });
  });
}

test('a successful response that is not JSON is rejected with an error that reports it', async () => {
  const { client } = scripted([new Response('<html>')]);
  await assert.rejects(
    client.resource(podResource).get('web', 'default'),
    /answered something that is not JSON/,
  );
});

test('a retry waits for Retry-After and a random time', async () => {
  const clock = new FakeClock();
  const busy = () => new Response('busy', { status: 429, headers: { 'Retry-After': '2' } });
  const answers = [busy(), busy(), ok()];
  const transport = inProcessTransport(async () => answers.shift() ?? busy());
  const drawn = [0.25, 0.75];
  const client = createClient(transport, { clock, random: { next: () => drawn.shift() ?? 0 } });
  const got = client.resource(podResource).get('web', 'default');
  await clock.settle();
  assert.equal(clock.nextIn, 2_500);
  await clock.advance(2_500);
  assert.equal(clock.nextIn, 3_500);
  await clock.advance(3_500);
  assert.equal((await got).metadata.name, 'web');
});

test('a retry stops waiting when its signal aborts', async () => {
  const clock = new FakeClock();
  const busy = () => new Response('busy', { status: 429, headers: { 'Retry-After': '2' } });
  const { client, seen } = scripted([busy()], clock);
  const stop = new AbortController();
  const listed = client.resource(podResource).list({ signal: stop.signal });
  await clock.settle();
  assert.equal(clock.pending, 1);
  const ended = assert.rejects(listed, /enough/);
  stop.abort(new Error('enough'));
  await ended;
  assert.deepEqual([seen.length, clock.pending], [1, 0]);
});

test('a request is retried after Retry-After, at most ten times', async () => {
  const clock = new FakeClock();
  const busy = () => new Response('busy', { status: 429, headers: { 'Retry-After': '2' } });
  const { client, seen } = scripted([busy(), busy(), ok(), ...Array.from({ length: 20 }, busy)], clock);
  const got = client.resource(podResource).create(pod('web'));
  await clock.settle();
  assert.deepEqual([seen.length, clock.nextIn], [1, 2_000]);
  await clock.advance(4_000);
  assert.equal((await got).metadata.name, 'web');

  const failed = assert.rejects(client.resource(podResource).get('web', 'default'), { name: 'StatusError' });
  await clock.advance(60_000);
  await failed;
  assert.equal(seen.length, 3 + 11);
});

interface RetryCase {
  readonly what: string;
  readonly answer: () => Response | Error;
  readonly method: 'get' | 'update';
  readonly tries: number;
}

for (const { what, answer, method, tries } of [
  {
    what: '500 without Retry-After',
    answer: () => new Response('', { status: 500 }),
    method: 'get',
    tries: 1,
  },
  {
    what: '404 with Retry-After',
    answer: () => new Response('', { status: 404, headers: { 'Retry-After': '1' } }),
    method: 'get',
    tries: 1,
  },
  {
    what: '503 with Retry-After',
    answer: () => new Response('', { status: 503, headers: { 'Retry-After': '1' } }),
    method: 'update',
    tries: 11,
  },
  { what: 'a reset', answer: () => new TransportError('lost', 'reset'), method: 'get', tries: 11 },
  { what: 'a reset', answer: () => new TransportError('lost', 'reset'), method: 'update', tries: 1 },
  {
    what: 'a refused connection',
    answer: () => new TransportError('refused', 'refused'),
    method: 'get',
    tries: 1,
  },
] satisfies RetryCase[] as RetryCase[]) {
  test(`${what} on ${method} is tried ${tries} time(s)`, async () => {
    const clock = new FakeClock();
    const { client, seen } = scripted(Array.from({ length: 12 }, answer), clock);
    const pods = client.resource(podResource);
    const failed = assert.rejects(method === 'get' ? pods.get('web', 'default') : pods.update(pod('web')));
    await clock.advance(60_000);
    await failed;
    assert.equal(seen.length, tries);
  });
}

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;

function streamed(text: string, size: number): Response {
  const bytes = new TextEncoder().encode(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
  return new Response(ReadableStream.from(pieces));
}

async function collect(events: AsyncIterable<WatchEvent<Pod>>) {
  const all: WatchEvent<Pod>[] = [];
  for await (const event of events) all.push(event);
  return all;
}

for (const size of [1, 2, 7, 64, 1_000_000]) {
  test(`a watch is decoded from pieces of ${size} bytes`, async () => {
    const objects = [pod('ä-ü-€-😀'), pod('x'.repeat(50_000)), pod('last')];
    const text = `${objects.map((object) => line('ADDED', object)).join('')}\n${line('BOOKMARK', pod('b'))}`;
    const { client } = scripted([streamed(text, size)]);
    const events = await collect(
      client.resource(podResource).watch({ signal: new AbortController().signal }),
    );
    assert.deepEqual(
      events.map((event) => [event.type, event.object.metadata.name]),
      [...objects.map((object) => ['ADDED', object.metadata.name]), ['BOOKMARK', 'b']],
    );
  });
}

for (const { what, text, error } of [
  { what: 'an ERROR event', text: line('ERROR', newExpired('too old').status), error: isExpired },
  { what: 'an ERROR event without a Status', text: line('ERROR', 'bad'), error: /answered 500: "bad"/ },
  { what: 'half an event', text: '{"type":"ADDED","obj', error: /middle of an event/ },
  { what: 'text that is not JSON', text: 'hello\n', error: /not JSON/ },
  { what: 'an unknown type', text: line('RENAMED', pod('a')), error: /unknown type "RENAMED"/ },
]) {
  test(`a watch that sends ${what} fails after delivering the earlier events`, async () => {
    const { client } = scripted([streamed(line('ADDED', pod('a')) + text, 16)]);
    const seen: string[] = [];
    const reading = (async () => {
      const signal = new AbortController().signal;
      for await (const event of client.resource(podResource).watch({ signal })) seen.push(event.type);
    })();
    await assert.rejects(reading, error as RegExp);
    assert.deepEqual(seen, ['ADDED']);
  });
}

test('an aborted watch ends without an error, also at the server', async () => {
  let cancelled = 0;
  const endless = () =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(line('ADDED', pod('a')))),
        cancel: () => void cancelled++,
      }),
    );
  const { client } = scripted([endless(), endless()]);
  const abort = new AbortController();
  const seen: string[] = [];
  for await (const event of client.resource(podResource).watch({ signal: abort.signal })) {
    seen.push(event.type);
    setImmediate(() => abort.abort());
  }
  assert.deepEqual([seen, cancelled], [['ADDED'], 1]);
  for await (const _ of client.resource(podResource).watch({ signal: new AbortController().signal })) break;
  assert.equal(cancelled, 2, 'a reader that stops ends its watch at the server');
});

test('a closed in-process transport ends open requests and rejects new ones', async () => {
  const { client, transport } = scripted([new Response(new ReadableStream())]);
  const watching = collect(client.resource(podResource).watch({ signal: new AbortController().signal }));
  await new FakeClock().settle();
  transport.close();
  await assert.rejects(watching, { failure: 'closed' });
  await assert.rejects(client.resource(podResource).get('web', 'default'), { failure: 'closed' });
});

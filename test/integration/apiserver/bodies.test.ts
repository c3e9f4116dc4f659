import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { StatusError } from '../../../src/apimachinery/status-error.ts';
import { maxNewValues, maxValues } from '../../../src/apimachinery/value-limit.ts';
import { createYamlReader } from '../../../src/apiserver/body/yaml-thread.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import {
  removals,
  type Sender,
  senderUsers,
  worstBodies,
  worstBodyObjects,
} from '../../fixtures/worst-bodies.ts';

const maps = '/api/v1/namespaces/default/configmaps';
/** Address of a client outside of the server's own process. */
const remoteAddress = '192.0.2.7';
/** A document that the parser would take practically unlimited time to parse. */
const endlessYaml = '{a: '.repeat(100_000);
/** Longer than the texts that may be parsed while a long text is being parsed. */
const longYaml = `a: ${'x'.repeat(70_000)}`;
const yaml = { headers: { 'content-type': 'application/yaml' } };

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate();
}

describe('the most expensive bodies', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    for (const [path, object] of worstBodyObjects) {
      const answer = await server.call('POST', path, object);
      assert.equal(answer.status, 201, answer.text);
    }
  });
  after(() => server.stop());

  const send = (as: Sender, method: string, path: string, type: string, body: Uint8Array<ArrayBuffer>) => {
    const headers = { 'content-type': type };
    const user = senderUsers[as];
    if (user) return server.call(method, path, body, { user, headers, remoteAddress });
    const request = new Request(`https://apiserver${path}`, { method, headers, body });
    return server.app.fetch(request, { remoteAddress });
  };

  const tested = worstBodies.filter(({ slow, what }) => !slow && what !== 'more keys');
  for (const { as, method, path, type, what, body, status } of tested) {
    // A tenth of the size is enough for cases that do not depend on the limit; the benchmark sends the full
    // size.
    const isAboutLimits = status === 413 || type.includes('json-patch');
    const values = isAboutLimits ? maxValues : maxValues / 10;
    it(`of ${as} are answered with ${status}: ${method} ${path} ${type}, ${what}`, async () => {
      const answer = await send(as, method, path, type, body(values));
      const text = typeof answer.text === 'string' ? answer.text : await answer.text();
      assert.equal(answer.status, status, text.slice(0, 300));
      // The message about a body is much smaller than the body.
      if (status >= 400) assert.ok(text.length < 200_000, `the refusal has ${text.length} characters`);
      assert.ok((answer.headers.get('warning') ?? '').length < 10_000);
      if (status !== 201) return;
      for (const [how, kind, what] of removals) {
        const headers = { 'content-type': kind };
        assert.equal((await server.call(how, `${path}/new`, what, { headers })).status, 200);
      }
    });
  }
});

describe('bodies', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('in YAML are parsed on a thread, with their duplicates', async () => {
    const one = 'metadata: {name: one}\ndata: {a: "1", a: "on"}\nx: 1\n';
    const made = await server.call('POST', maps, one, yaml);
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.json<{ data: object }>().data, { a: 'on' });
    assert.equal(
      made.headers.get('warning'),
      '299 - "unknown field \\"x\\"", 299 - "duplicate field \\"data.a\\""',
    );
    const strict = await server.call('POST', `${maps}?fieldValidation=Strict`, one, yaml);
    assert.match(strict.json<{ message: string }>().message, /unknown field "x", duplicate field "data.a"/);
  });

  for (const [what, body, headers, status, message] of [
    ['broken JSON', '{"a":', {}, 400, /line 1, column 6/],
    ['broken YAML', 'a: [', yaml.headers, 400, /invalid YAML at line 1/],
    ['two documents', 'a: 1\n---\nb: 2', yaml.headers, 400, /found 2/],
    [
      'another content type',
      '{}',
      { 'content-type': 'text/xml' },
      415,
      /application\/yaml, application\/vnd/,
    ],
  ] as const) {
    it(`with ${what} are answered with ${status}`, async () => {
      const answer = await server.call('POST', maps, body, { headers });
      assert.equal(answer.status, status);
      assert.match(answer.json<{ message: string }>().message, message);
    });
  }

  it('in YAML that takes too long to read are refused, and the next one is read', async () => {
    const clock = new FakeClock();
    const readYaml = createYamlReader(clock);
    const endless = assert.rejects(readYaml(endlessYaml, 'alice'), /took longer than 10 s; send it as JSON/);
    const next = readYaml(longYaml, 'alice');
    await until(() => clock.pending > 0);
    await clock.advance(10_000);
    await endless;
    assert.deepEqual(Object.keys((await next).value as object), ['a']);
    assert.equal(clock.pending, 0);
  });

  it('in YAML that are short do not wait for long ones', async () => {
    const clock = new FakeClock();
    const readYaml = createYamlReader(clock);
    const endless = assert.rejects(readYaml(endlessYaml, 'alice'));
    // The clock stands still, so the long text is still being parsed.
    assert.deepEqual(await readYaml('a: 1', 'bob'), { value: { a: 1 }, duplicates: [] });
    assert.deepEqual(await readYaml('a: 2', 'alice'), { value: { a: 2 }, duplicates: [] });
    assert.equal(clock.pending, 1);
    await clock.advance(10_000);
    await endless;
  });

  it('in YAML are parsed in turns of their users', async () => {
    const readYaml = createYamlReader(new FakeClock());
    const order: string[] = [];
    const read = (user: string) => readYaml(longYaml, user).then(() => order.push(user));
    await Promise.all([read('alice'), read('alice'), read('alice'), read('bob')]);
    assert.deepEqual(order, ['alice', 'alice', 'bob', 'alice']);
  });

  it('in YAML that wait are limited by number and length for one user, and not for other users', async () => {
    const clock = new FakeClock();
    const readYaml = createYamlReader(clock);
    const refused = { reason: 'TooManyRequests', code: 429, details: { retryAfterSeconds: 2 } } as const;
    const isRefused = (error: unknown) => {
      assert.ok(error instanceof StatusError);
      assert.partialDeepStrictEqual(error.status, refused);
      return true;
    };
    const short = Array.from({ length: 16 }, () => readYaml('a: 1', 'alice'));
    await assert.rejects(readYaml('a: 1', 'alice'), isRefused);
    await readYaml('a: 1', 'bob');
    await Promise.all(short);
    const large = `a: ${'x'.repeat(2_800_000)}`;
    const long = [1, 2, 3].map(() => readYaml(large, 'alice'));
    await assert.rejects(readYaml(large, 'alice'), isRefused);
    await readYaml(large, 'bob');
    await Promise.all(long);
    assert.deepEqual((await readYaml('a: 1', 'alice')).value, { a: 1 });
  });

  it('of node agents may not be YAML', async () => {
    for (const [path, user] of [
      ['/api/v1/nodes', senderUsers.node],
      ['/apis/certificates.k8s.io/v1/certificatesigningrequests', senderUsers['bootstrap token']],
    ] as const) {
      const answer = await server.call('POST', path, 'metadata: {name: worst}', {
        ...yaml,
        ...(user && { user }),
      });
      assert.equal(answer.status, 415);
      assert.doesNotMatch(answer.text, /yaml/);
    }
  });

  it('of the size of real objects are accepted', async () => {
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    const endpoints = Array.from({ length: 1000 }, (_, i) => ({
      addresses: [`10.1.${i >> 8}.${i & 255}`],
      conditions: { ready: true, serving: true, terminating: false },
      hostname: `h${i}`,
      nodeName: 'n',
      zone: 'z',
      hints: { forZones: [{ name: 'z' }] },
      targetRef: { kind: 'Pod', namespace: 'default', name: `p${i}`, uid: `u${i}` },
    }));
    const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 'x'.repeat(100)]));
    const env = Array.from({ length: 1000 }, (_, i) => ({ name: `V${i}`, value: `${i}` }));
    for (const [path, object] of [
      [maps, { metadata: { name: 'value' }, data: { a: 'x'.repeat(1024 * 1024) } }],
      [maps, { metadata: { name: 'keys' }, data: keys }],
      [slices, { metadata: { name: 'slice' }, addressType: 'IPv4', endpoints }],
      [
        '/api/v1/namespaces/default/pods',
        { metadata: { name: 'pod' }, spec: { containers: [{ name: 'c', image: 'i', env }] } },
      ],
    ] as const) {
      const answer = await server.call('POST', path, object);
      assert.equal(answer.status, 201, answer.text.slice(0, 300));
    }
  });

  it('leave room in the largest object for its defaults and for later writes', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    // Pods with `count` containers; each container has three values, and seven with the defaults.
    const podOf = (name: string, count: number) => ({
      metadata: { name },
      spec: { containers: Array.from({ length: count }, (_, i) => ({ name: `c${i}`, image: 'i' })) },
    });
    const most = Math.floor(maxNewValues / 7);
    const refused = await server.call('POST', pods, podOf('larger', most), { remoteAddress });
    assert.equal(refused.status, 413, refused.text.slice(0, 300));
    const made = await server.call('POST', pods, podOf('large', most - 10), { remoteAddress });
    assert.equal(made.status, 201, made.text.slice(0, 300));
    // Writes the whole object, as the scheduler does in the server's process.
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'none' }];
    const waiting = { ...made.json(), status: { conditions } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    for (const [method, path, body, more] of [
      ['PUT', `${pods}/large/status`, waiting, {}],
      ['PATCH', `${pods}/large`, { metadata: { annotations: { a: 'b' } } }, { headers }],
      ['POST', `${pods}/large/binding`, { target: { name: 'n' } }, {}],
      // Writes the status, as the pod's node does.
      ['PATCH', `${pods}/large/status`, { status: { phase: 'Running' } }, { headers, remoteAddress }],
    ] as const) {
      const answer = await server.call(method, path, body, more);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text.slice(0, 300)}`);
    }
  });

  it('that are patches do not make an object larger than allowed', async () => {
    await server.call('POST', maps, { metadata: { name: 'grown' } });
    const part = (prefix: string) => ({
      data: Object.fromEntries(Array.from({ length: maxValues * 0.4 }, (_, i) => [`${prefix}${i}`, ''])),
    });
    const patch = (prefix: string) =>
      server.call('PATCH', `${maps}/grown`, part(prefix), {
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    // Each body has two fifths of the values that a body may have.
    const statuses: number[] = [];
    for (const prefix of ['a', 'b', 'c', 'd']) statuses.push((await patch(prefix)).status);
    assert.deepEqual(statuses, [200, 200, 200, 413]);
    const deeper = { op: 'add', path: `/metadata/annotations`, value: {} };
    const copies = [
      deeper,
      ...Array(600).fill({ op: 'copy', from: '/metadata', path: '/metadata/annotations/a' }),
    ];
    const answer = await server.call('PATCH', `${maps}/grown`, copies, {
      headers: { 'content-type': 'application/json-patch+json' },
    });
    assert.equal(answer.status, 422, answer.text.slice(0, 300));
  });
});

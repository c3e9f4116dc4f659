/**
 * Hostile callers and programs of functions: their resources are released, and other callers are not
 * affected.
 */
import assert from 'node:assert/strict';
import type { IncomingMessage, RequestListener } from 'node:http';
import { Agent, request } from 'node:https';
import { after, afterEach, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { functions, type GatewayWorld, merge, startGatewayWorld } from './gateway-world.ts';

const workflows = '/apis/minik8s.io/v1/namespaces/default/workflows';

let world: GatewayWorld;

before(async () => {
  world = await startGatewayWorld();
});
after(() => world.stop());
afterEach(() => world.cleanUp());

/** Timeout for each test. */
const limit = { timeout: 60_000 };

const until = (what: string, probe: () => boolean | Promise<boolean>) => eventually(systemClock, what, probe);

const busy: RequestListener = (incoming, outgoing) => {
  incoming.resume();
  outgoing.writeHead(503, { 'function-not-called': 'busy' }).end();
};

/**
 * Returns the statuses of all answers to the bytes, sent unchanged, until the server closes the connection.
 */
function statusesOf(bytes: string): Promise<string[]> {
  const { key, cert } = world.asAdmin.options;
  const socket = connect({
    host: '127.0.0.1',
    port: world.port,
    ca: world.server.authority.certificate,
    ...(key !== undefined && { key: key as string }),
    ...(cert !== undefined && { cert: cert as string }),
  });
  return new Promise((resolve) => {
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () =>
      resolve([...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status)),
    );
    socket.write(bytes, 'latin1');
  });
}

/**
 * Sends an endless body in chunks until an answer arrives. Returns the status and the number of bytes sent.
 */
function endless(path: string, chunkBytes: number, maxBytes: number): Promise<[number | undefined, number]> {
  return new Promise((resolve) => {
    let bytes = 0;
    const agent = new Agent({ ...world.asAdmin.options, keepAlive: false });
    const options = { host: '127.0.0.1', port: world.port, path, method: 'POST', agent };
    const sent = request({ ...options, headers: { 'transfer-encoding': 'chunked' } }, (answer) => {
      answer.resume();
      answer.on('end', () => over(answer.statusCode));
      answer.on('error', () => over(answer.statusCode));
    });
    const over = (status: number | undefined) => {
      resolve([status, bytes]);
      sent.destroy();
    };
    sent.on('error', () => over(undefined));
    const chunk = Buffer.alloc(chunkBytes, 'x');
    const more = () => {
      if (sent.destroyed) return;
      if (bytes >= maxBytes) return void over(undefined);
      bytes += chunk.length;
      if (sent.write(chunk)) setImmediate(more);
      else sent.once('drain', more);
    };
    more();
  });
}

describe('a program of a function', () => {
  it('that rejects a call until the timeout of the function causes the answer 504', limit, async () => {
    const one = await world.fn({ timeoutSeconds: 1 });
    await world.instance(one, busy);
    const { status, text } = await world.call(`/function/${one.metadata.name}`, { body: '{}' });
    assert.equal(status, 504, text);
  });
  it('without room keeps no place for callers that have disconnected', limit, async () => {
    const one = await world.fn({ concurrency: 1 });
    let refuses = true;
    let refusals = 0;
    await world.instance(one, (incoming, outgoing) => {
      refusals += 1;
      if (refuses) busy(incoming, outgoing);
      else outgoing.end('yes');
    });
    for (let i = 0; i < 10; i++) {
      const before = refusals;
      const leaving = new AbortController();
      const agent = new Agent({ ...world.asAdmin.options, keepAlive: false });
      const left = world.call(`/function/${one.metadata.name}`, { agent, signal: leaving.signal });
      await until('the program has refused', () => refusals > before);
      leaving.abort();
      await assert.rejects(left);
    }
    refuses = false;
    assert.equal((await world.call(`/function/${one.metadata.name}`)).text, 'yes');
  });
  it('is not kept busy by a body that breaks off or does not arrive', limit, async () => {
    const one = await world.fn({ concurrency: 1 });
    let calls = 0;
    await world.instance(one, (incoming, outgoing) => {
      calls += 1;
      incoming.resume();
      incoming.on('end', () => outgoing.end('whole'));
    });
    const agent = () => new Agent({ ...world.asAdmin.options, keepAlive: false });
    const slow = ['transfer-encoding: chunked', 'content-length: 100'].map((header) => {
      const [name = '', value = ''] = header.split(': ');
      const path = `/function/${one.metadata.name}`;
      const options = { host: '127.0.0.1', port: world.port, path, method: 'POST', agent: agent() };
      const sent = request({ ...options, headers: { [name]: value, expect: '100-continue' } });
      sent.on('error', () => undefined);
      const isThere = new Promise((resolve) => sent.once('continue', resolve));
      sent.write('x');
      return { sent, isThere };
    });
    for (const { isThere } of slow) await isThere;
    const chunked = { 'transfer-encoding': 'chunked' };
    const answer = await world.call(`/function/${one.metadata.name}`, { body: 'x', headers: chunked });
    assert.deepEqual([answer.text, calls], ['whole', 1]);
    for (const { sent } of slow) sent.destroy();
  });
  it('that answers without reading the body leaves no open connection', limit, async () => {
    const one = await world.fn();
    let [calls, open] = [0, 0];
    const paused: IncomingMessage[] = [];
    await world.instance(one, (incoming, outgoing) => {
      calls += 1;
      open += 1;
      incoming.socket.once('close', () => {
        open -= 1;
      });
      paused.push(incoming.pause());
      // Written to the socket directly; otherwise the server of this test would close the connection after
      // some seconds.
      outgoing.socket?.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly');
    });
    for (const way of ['', '?through=%20the|app'])
      await endless(`/function/${one.metadata.name}${way}`, 64 * 1024, 8 * 1024 * 1024);
    assert.equal(calls, 2);
    // A client that does not read does not see the end of a connection either.
    for (const incoming of paused) incoming.resume();
    await until('the connections to the program are closed', () => open === 0);
  });
});

describe('a request', () => {
  it('whose URL contains a user is rejected and reaches no program', async () => {
    const one = await world.fn();
    let calls = 0;
    await world.instance(one, (_, outgoing) => {
      calls += 1;
      outgoing.end();
    });
    const target = `http://user:word@there/function/${one.metadata.name}`;
    assert.deepEqual(await statusesOf(`GET ${target} HTTP/1.1\r\nHost: there\r\nConnection: close\r\n\r\n`), [
      '400',
    ]);
    assert.equal(calls, 0);
  });
  it('passes no headers that are reserved for the cluster to a program', async () => {
    const one = await world.fn();
    await world.instance(one, (incoming, outgoing) => outgoing.end(JSON.stringify(incoming.headers)));
    const task = '0c7c8a4e-6f0b-4c52-8f0a-111111111111.1-0';
    const headers = {
      'function-once': '0',
      'function-name': 'other',
      'function-namespace': 'other',
      'function-repeat': 'true',
      'function-trigger-depth': '16',
      'function-trigger-chain': 'default/t',
      'Function-Trigger-Retried': 'true',
      'function-of-tomorrow': 'x',
      // The same header for programs that receive headers as environment variables.
      function_once: '0',
      Function_Call_Id: 'mine',
      'Function-_Name': 'other',
      // Names the headers that the program must receive.
      connection: 'function-name, function-call-id, function-namespace',
      'function-call-id': task,
    };
    const ways = [
      ...['', '?through=%20the|app'].map((way) => `/function/${one.metadata.name}${way}`),
      `${functions}/${one.metadata.name}/invoke`,
    ];
    for (const way of ways) {
      const { text } = way.startsWith('/function/')
        ? await world.call(way, { headers })
        : await world.server.call('POST', way, {}, { headers });
      const { 'function-call-id': id, ...seen } = JSON.parse(text);
      const own = Object.entries(seen).filter(([name]) => name.startsWith('function'));
      assert.deepEqual(
        Object.fromEntries(own),
        { 'function-name': one.metadata.name, 'function-namespace': 'default' },
        way,
      );
      assert.match(id, /^[0-9a-f-]{36}$/, 'an id of its own');
    }
  });
  it('that is ambiguous is refused, and reaches no program', async () => {
    const one = await world.fn();
    let calls = 0;
    await world.instance(one, (_, outgoing) => {
      calls += 1;
      outgoing.end();
    });
    const head = `POST /function/${one.metadata.name} HTTP/1.1\r\nHost: there\r\n`;
    const requests = {
      'two lengths': `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc`,
      'a length and chunks': `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      'a chunk without a size': `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n`,
      'a chunk with a negative size': `${head}Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n`,
      'a chunk of unlimited size': `${head}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc\r\n0\r\n\r\n`,
      'a length with a sign': `${head}Content-Length: +3\r\n\r\nabc`,
      'a name with a space': `${head}Content-Length : 3\r\n\r\nabc`,
      'a folded line': `${head}X: a\r\n b\r\nContent-Length: 0\r\n\r\n`,
      'two hosts': `${head}Host: here\r\nContent-Length: 0\r\n\r\n`,
      'a way up': head.replace(' HTTP', '/../x HTTP').concat('Content-Length: 0\r\n\r\n'),
    };
    for (const [what, bytes] of Object.entries(requests))
      assert.deepEqual(await statusesOf(bytes), ['400'], what);
    assert.equal(calls, 0);
  });
});

describe('a run of a public workflow', () => {
  const definition = { StartAt: 'A', States: { A: { Type: 'Succeed' } } };
  const runs = '/apis/minik8s.io/v1/namespaces/default/workflowruns';
  const open = async (name: string) => {
    const body = { metadata: { name }, spec: { definition, public: true } };
    const made = await world.server.call('POST', workflows, body);
    assert.equal(made.status, 201, made.text);
    world.later(() => world.server.call('DELETE', `${workflows}/${name}`));
  };
  const ask = (workflow: string, agent: Agent, run?: string) =>
    world.call(`/workflow/${workflow}?timeoutSeconds=0`, {
      agent,
      body: '{}',
      ...(run !== undefined && { headers: { 'workflow-run-name': run } }),
    });
  const stranger = () => {
    const agent = world.stranger();
    world.later(async () => agent.destroy());
    return agent;
  };

  it('returns its output to no client that guesses its name', async () => {
    await open('guessed');
    const [jane, joe] = [await world.agentOf('jane'), await world.agentOf('joe')];
    assert.equal((await ask('guessed', jane, 'order-1')).status, 202);
    assert.equal((await ask('guessed', jane, 'order-1')).status, 202);
    const spec = { workflow: 'guessed', input: {} };
    assert.equal(
      (await world.server.call('POST', runs, { metadata: { name: 'order-2' }, spec })).status,
      201,
    );
    for (const name of ['order-1', 'order-2']) {
      assert.equal((await ask('guessed', joe, name)).status, 409, name);
      // The answer is the same whether such a run exists or not.
      for (const guess of [name, `${name}0`])
        assert.equal((await ask('guessed', stranger(), guess)).status, 400, guess);
    }
    const secret = '0c7c8a4e-6f0b-4c52-8f0a-111111111111';
    const [first, again, other] = await Promise.all(
      [secret, secret, secret.replace('0c', '1c')].map(async (wished) => {
        const answer = await ask('guessed', stranger(), wished);
        return [answer.status, answer.headers['workflow-run']];
      }),
    );
    assert.deepEqual(first, again);
    assert.notDeepEqual(first, other);
    assert.equal(JSON.stringify([first, other]).includes(secret), false);
    // The displayed name does not lead to the same run when it is sent as a name.
    const shown = String(first?.[1]);
    assert.equal(shown.length >= 32, true);
    assert.notEqual((await ask('guessed', stranger(), shown)).headers['workflow-run'], shown);
    await world.server.call('DELETE', runs);
  });
  it('is started by no anonymous caller while a thousand of such runs are in progress', async () => {
    await open('flooded');
    const jane = await world.agentOf('jane');
    const annotations = { 'minik8s.io/called-by': 'system:anonymous' };
    for (let i = 0; i < 1000; i++) {
      const body = { metadata: { name: `flood-${i}`, annotations }, spec: { workflow: 'flooded' } };
      assert.equal((await world.server.call('POST', runs, body)).status, 201);
    }
    const { status, headers } = await ask('flooded', stranger());
    assert.deepEqual([status, headers['retry-after']], [429, '5']);
    assert.equal((await ask('flooded', jane)).status, 202);
    const ended = { status: { phase: 'Succeeded' } };
    assert.equal((await world.server.call('PATCH', `${runs}/flood-7/status`, ended, merge)).status, 200);
    assert.equal((await ask('flooded', stranger())).status, 202);
    await world.server.call('DELETE', runs);
  });
});

describe('an endless input of a workflow', () => {
  it('is rejected as soon as it is too large, and is not buffered', async () => {
    const definition = { StartAt: 'A', States: { A: { Type: 'Succeed' } } };
    const metadata = { name: 'endless' };
    const made = await world.server.call('POST', workflows, { metadata, spec: { definition } });
    assert.equal(made.status, 201, made.text);
    world.later(() => world.server.call('DELETE', `${workflows}/endless`));
    const [, bytes] = await endless('/workflow/endless', 1024 * 1024, 256 * 1024 * 1024);
    assert.ok(bytes < 100 * 1024 * 1024, `${bytes} bytes were taken`);
  });
});

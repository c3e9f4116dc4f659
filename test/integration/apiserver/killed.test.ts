/**
 * An API server that is killed while it enforces the guarantees of docs/security.md, and is started
 * again with the same etcd: the guarantees hold from the first request on.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, request as send } from 'node:https';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { systemClock } from '../../../src/base/clock.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { Killed } from '../../fixtures/killed-server.ts';
import type { MeteredSettings } from '../../fixtures/metered-server.ts';

const limit = { timeout: 240_000 };
const maps = '/api/v1/namespaces/default/configmaps';
const services = (namespace: string) => `/api/v1/namespaces/${namespace}/services`;
const hosts = (namespace: string) => `/apis/minik8s.io/v1/namespaces/${namespace}/dnses`;

let server: Killed;
const start = async (settings?: MeteredSettings, quotaBytes?: number) => {
  server = await Killed.start(settings, quotaBytes);
};
afterEach(() => server?.stop());

const makeNamespaces = async (...names: string[]) => {
  for (const name of names)
    assert.equal((await server.call('POST', '/api/v1/namespaces', { metadata: { name } })).status, 201);
};

test(
  'a store that was full at a kill during deletions takes no new objects until the deletions have continued',
  limit,
  async () => {
    await start({}, 64 << 20);
    const places = ['space-0', 'space-1', 'space-2', 'space-3'];
    await makeNamespaces(...places);
    const at = (n: number) => `/api/v1/namespaces/${places[n % places.length]}/configmaps`;
    const large = (name: string) => ({ metadata: { name }, data: { text: 'x'.repeat(900_000) } });
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const lease = { metadata: { name: 'beat' }, spec: { holderIdentity: 'a' } };
    assert.equal((await server.call('POST', leases, lease)).status, 201);
    let made = 0;
    // Bytes of the last two seconds are counted twice, so one refusal may come too early.
    for (let refusals = 0; refusals < 5; ) {
      const { status, text } = await server.call('POST', at(made), large(`m${made}`));
      assert.ok(status === 201 || status === 429, text);
      made += status === 201 ? 1 : 0;
      refusals = status === 201 ? 0 : refusals + 1;
      assert.ok(made < 90, 'nothing was refused');
      if (status === 429) await sleep(700);
    }
    const gone = new Set<number>();
    // Deletions that leave no room for another large object.
    const doomed = [0, 1];
    const removing = doomed.map(async (n) => {
      if ((await server.call('DELETE', `${at(n)}/m${n}`)).status === 200) gone.add(n);
    });
    while (gone.size < 1) await sleep(1);
    await server.kill();
    await Promise.allSettled(removing);
    await server.again();
    const first = await server.call('POST', at(0), large('first'));
    assert.equal(first.status, 429, first.text);
    assert.match((await server.call('GET', '/readyz')).text, /\[-\]etcd-room failed/);
    const merge = 'application/merge-patch+json';
    const renewed = await server.call('PATCH', `${leases}/beat`, { spec: { holderIdentity: 'b' } }, merge);
    assert.equal(renewed.status, 200, renewed.text);
    for (const n of gone) assert.equal((await server.call('GET', `${at(n)}/m${n}`)).status, 404, `m${n}`);
    for (let n = 0; n < made; n++) {
      const { status, text } = await server.call('DELETE', `${at(n)}/m${n}`);
      assert.ok(status === 200 || (status === 404 && n < doomed.length), text);
    }
    await eventually(
      systemClock,
      'there is room again',
      async () => (await server.call('POST', maps, large('again'))).status === 201,
    );
  },
);

test(
  'an external address and a host that were claimed just before a kill have one namespace after it',
  limit,
  async () => {
    await start({ externalIPRanges: ['203.0.113.0/24'], 'dns-domains': ['example'] });
    await makeNamespaces('alice', 'bob');
    const service = (n: number) => ({
      metadata: { name: `s${n}` },
      spec: { externalIPs: [`203.0.113.${n}`], ports: [{ port: 80 }] },
    });
    const host = (n: number) => ({
      metadata: { name: `h${n}` },
      spec: { host: `h${n}.example`, paths: [{ path: '/', serviceName: 'web', servicePort: 80 }] },
    });
    const holders = async (path: (namespace: string) => string, name: string) => {
      const found: string[] = [];
      for (const namespace of ['alice', 'bob'])
        if ((await server.call('GET', `${path(namespace)}/${name}`)).status === 200) found.push(namespace);
      return found;
    };
    // The server is killed once while it writes, and once after both answers.
    for (const [n, waitMs] of [2, 10, undefined].entries()) {
      const claims = Promise.all([
        server.call('POST', services('alice'), service(n)),
        server.call('POST', hosts('alice'), host(n)),
      ]);
      await (waitMs === undefined ? claims : sleep(waitMs));
      await server.kill();
      const answered = (await claims).map(({ status }) => status);
      await server.again();
      const taken = [
        (await server.call('POST', services('bob'), service(n))).status,
        (await server.call('POST', hosts('bob'), host(n))).status,
      ];
      for (const [index, status] of answered.entries())
        if (status === 201) assert.equal(taken[index], 422, `claim ${index} was acknowledged`);
      assert.equal((await holders(services, `s${n}`)).length, 1);
      assert.equal((await holders(hosts, `h${n}`)).length, 1);
    }
  },
);

test(
  'a workflow whose expressions were being parsed at a kill is stored completely or not at all, and the next server starts without delay',
  limit,
  async () => {
    await start();
    const path = '/apis/minik8s.io/v1/namespaces/default/workflows';
    const slow = Array.from({ length: 4000 }, () => 'a').join('.');
    const workflow = (name: string, texts: readonly string[]) => {
      const Output = Object.fromEntries(texts.map((text, n) => [`e${n}`, `{% ${text} %}`]));
      const States = { A: { Type: 'Pass', End: true, Output } };
      return { metadata: { name }, spec: { definition: { QueryLanguage: 'JSONata', StartAt: 'A', States } } };
    };
    const writing = server.call('POST', path, workflow('slow', [slow, slow, slow, slow]));
    await sleep(150);
    await server.kill();
    assert.equal((await writing).status, 0);
    await server.again();
    assert.equal((await server.call('GET', `${path}/slow`)).status, 404);
    const short = Array.from({ length: 1500 }, () => 'a').join('.');
    const again = server.call('POST', path, workflow('slow', [short]));
    assert.equal((await server.call('GET', '/livez')).status, 200);
    const written = await again;
    assert.equal(written.status, 201, written.text);
    assert.equal((await server.call('POST', path, workflow('bad', ['$sum(']))).status, 422);
    assert.deepEqual(await server.held(), []);
  },
);

/** Opens a watch; resolves to its status, and reads the types and names of its events. */
async function watch(path: string) {
  const { port, ca, key, cert } = server.process.target;
  const request = get({ host: '127.0.0.1', port, ca, key, cert, path, agent: false });
  request.on('error', () => undefined);
  const [answer] = await once(request, 'response');
  const lines: string[] = [];
  let text = '';
  answer.setEncoding('utf8');
  answer.on('error', () => undefined);
  answer.on('data', (piece: string) => {
    const parts = (text + piece).split('\n');
    text = parts.pop() ?? '';
    for (const line of parts) {
      const { type, object } = JSON.parse(line) as { type: string; object: { metadata: { name: string } } };
      lines.push(`${type} ${object.metadata.name}`);
    }
  });
  return { status: answer.statusCode as number, lines, close: () => request.destroy() };
}

test(
  'watches with long selectors that resume after a kill get each event once, leave no resources, and have the same limit',
  limit,
  async () => {
    await start();
    const listed = await server.call('GET', maps);
    const { resourceVersion } = (JSON.parse(listed.text) as { metadata: { resourceVersion: string } })
      .metadata;
    for (let n = 0; n < 200; n++) {
      const map = { metadata: { name: `m${n}`, labels: { a: '5' } } };
      assert.equal((await server.call('POST', maps, map)).status, 201);
    }
    // Another selector for each watch: equal ones are compared once.
    const selector = (n: number) =>
      encodeURIComponent(Array.from({ length: 1000 }, (_, term) => `a!=${n}x${term}`).join());
    const open = (n: number) =>
      watch(`${maps}?watch=1&resourceVersion=${resourceVersion}&labelSelector=${selector(n)}`);
    const names = Array.from({ length: 200 }, (_, n) => `ADDED m${n}`);
    for (const round of ['before the kill', 'after it']) {
      const watches = await Promise.all(Array.from({ length: 50 }, (_, n) => open(n)));
      assert.deepEqual([...new Set(watches.map(({ status }) => status))], [200], round);
      const refused = await open(50);
      assert.equal(refused.status, 429, round);
      await eventually(systemClock, 'all events', () => watches.every(({ lines }) => lines.length >= 200));
      for (const { lines } of watches) assert.deepEqual(lines, names, round);
      assert.deepEqual(await server.held(), [], round);
      if (round === 'before the kill') {
        await server.kill();
        await server.again();
      }
      for (const { close } of watches) close();
    }
  },
);

test(
  'anonymous clients that reconnect after a kill are limited as before, and a user gets answers',
  limit,
  async () => {
    await start({ maxConnections: 64 });
    const open = async () => {
      const { port, ca } = server.process.target;
      const sockets = Array.from({ length: 40 }, () => connect({ host: '127.0.0.1', port, ca }));
      for (const socket of sockets) socket.on('error', () => undefined);
      const isOver = (socket: TLSSocket) => socket.closed || socket.authorized;
      await eventually(systemClock, 'each is accepted or closed', () => sockets.every(isOver));
      const still = () => sockets.filter(({ closed }) => !closed).length;
      await eventually(systemClock, 'the others are closed', () => still() <= 4);
      assert.equal((await server.call('GET', maps)).status, 200);
      return still();
    };
    assert.equal(await open(), 4);
    await server.kill();
    await server.again();
    assert.equal(await open(), 4);
  },
);

test(
  'a node cannot read a claim of another node by a mirror pod that was stored or in transit at a kill',
  limit,
  async () => {
    await start();
    const node = { 'impersonate-user': 'system:node:n1', 'impersonate-group': 'system:nodes' };
    const made = await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
    const { uid } = (JSON.parse(made.text) as { metadata: { uid: string } }).metadata;
    const pods = '/api/v1/namespaces/default/pods';
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid, controller: true };
    const mirror = (name: string) => ({
      metadata: { name, annotations: { 'kubernetes.io/config.mirror': 'h' }, ownerReferences: [owner] },
      spec: {
        nodeName: 'n1',
        automountServiceAccountToken: false,
        containers: [{ name: 'a', image: 'b' }],
        volumes: [{ name: 'db', ephemeral: { volumeClaimTemplate: { spec } } }],
      },
    });
    const names = ['stored', 'sent'];
    for (const name of names)
      assert.equal(
        (await server.call('POST', claims, { metadata: { name: `${name}-db` }, spec })).status,
        201,
      );
    // An administrator may store such a pod, as nodes could before.
    const stored = await server.call('POST', pods, mirror('stored'));
    assert.equal(stored.status, 201, stored.text);
    const read = async (name: string) =>
      (await server.call('GET', `${claims}/${name}-db`, undefined, 'application/json', node)).status;
    assert.equal(await read('stored'), 403);
    const onItsWay = server.call('POST', pods, mirror('sent'), 'application/json', node);
    await sleep(2);
    await server.kill();
    assert.ok([0, 403].includes((await onItsWay).status));
    await server.again();
    for (const name of names) assert.equal(await read(name), 403, name);
    const again = await server.call('POST', pods, mirror('sent'), 'application/json', node);
    assert.equal(again.status, 403, again.text);
  },
);

test(
  'YAML bodies that one user sends again right after a kill do not delay another user',
  limit,
  async () => {
    await start();
    await makeNamespaces('alice');
    const large = `metadata:\n  name: large\ndata:\n${Array.from({ length: 60_000 }, (_, n) => `  k${n}: "${'x'.repeat(30)}"\n`).join('')}`;
    const alice = { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' };
    const small = 'metadata:\n  generateName: small-\ndata:\n  a: b\n';
    let attacking = true;
    const statuses = new Set<number>();
    // Connections of its own: those of the other user have to stay free.
    const post = () =>
      new Promise<number>((resolve) => {
        const { port, ca, key, cert } = server.process.target;
        const headers = { 'content-type': 'application/yaml', ...alice };
        const path = `${maps}?dryRun=All`;
        const to = { host: '127.0.0.1', port, ca, key, cert, path, headers, method: 'POST', agent: false };
        const sending = send(to, (answer) => {
          answer.resume().on('error', () => undefined);
          resolve(answer.statusCode ?? 0);
        });
        sending.on('error', () => resolve(0)).end(large);
      });
    const attack = async () => {
      while (attacking) {
        const status = await Promise.resolve()
          .then(post)
          .catch(() => 0);
        statuses.add(status);
        await sleep(status === 0 || status === 429 ? 100 : 0);
      }
    };
    const attacks = Array.from({ length: 8 }, attack);
    try {
      await sleep(500);
      await server.kill();
      statuses.clear();
      await server.again();
      for (let n = 0; n < 5; n++) {
        const began = performance.now();
        const { status, text } = await server.call('POST', maps, small, 'application/yaml');
        assert.equal(status, 201, text);
        const waitedMs = performance.now() - began;
        assert.ok(waitedMs < 5000, `another user waited ${waitedMs} ms`);
      }
    } finally {
      attacking = false;
      await Promise.all(attacks);
    }
    assert.ok(statuses.has(429), `the attack was answered ${[...statuses]}`);
    assert.deepEqual(await server.held(), []);
  },
);

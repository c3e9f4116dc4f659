/** A master that carries out orders in its Lease, against an API server. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { leaseResource } from '../../../src/api/coordination/v1/lease.ts';
import { masterLabel } from '../../../src/api/coordination/v1/master-lease.ts';
import {
  executableDocument,
  upgradableAnnotation,
  upgradeAnnotation,
  upgradeResultAnnotation,
} from '../../../src/api/core/v1/node/upgrade.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { followMasterOrders } from '../../../src/roles/master/master-upgrades.ts';
import { admin, startTestServer } from '../../fixtures/api-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const served = new Map([
  ['https://10.1.0.2:6443', 'the version before'],
  ['https://10.1.0.3:6443', 'the next version'],
]);
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
const sha256 = digestOf('the next version');
const headers = { 'content-type': 'application/merge-patch+json' };
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

/** The master at 10.1.0.1, and the Leases of two others; calls of systemd-run are recorded. */
async function world(context: TestContext) {
  const server = await startTestServer({ clock: systemClock });
  const others = await Promise.all(
    [...served].map(async ([url, content]) => {
      const documents = () => new Map([[executableDocument, () => new Response(content)]]);
      return [url, await startTestServer({ clock: systemClock, documents })] as const;
    }),
  );
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-upgrades-'));
  const create = async (address: string) => {
    const metadata = { name: `m-${address}`, labels: { [masterLabel]: 'minik8s' } };
    const lease = { metadata, spec: { holderIdentity: `${address}:6443` } };
    assert.equal((await server.call('POST', leases, lease)).status, 201);
  };
  for (const address of ['10.1.0.1', '10.1.0.2', '10.1.0.3']) await create(address);
  const commands: string[] = [];
  let readings = 0;
  const client = createClient(inProcessTransport(server.handlerFor(admin)));
  const stop = new AbortController();
  const running = followMasterOrders(
    {
      exec: async (file, args) => {
        commands.push([file, ...args].join(' '));
        return { stdout: '', stderr: '' };
      },
      clock: systemClock,
      random: new SeededRandom(5),
      log: silentLogger,
      lease: 'm-10.1.0.1',
      directory,
      executable: '/usr/local/bin/minik8s',
      ownDigest: async () => {
        readings++;
        return 'f'.repeat(64);
      },
      connect: (url) =>
        inProcessTransport((others.find(([other]) => other === url)?.[1] ?? server).handlerFor(admin)),
    },
    stop.signal,
  );
  context.after(async () => {
    stop.abort();
    await running;
    await Promise.all([server, ...others.map(([, other]) => other)].map((one) => one.stop()));
    rmSync(directory, { recursive: true });
  });
  const annotations = async () =>
    (await client.resource(leaseResource).get('m-10.1.0.1', 'kube-system')).metadata.annotations ?? {};
  return {
    server,
    commands,
    directory,
    annotations,
    create,
    readings: () => readings,
    async renew(times: number) {
      for (let n = 0; n < times; n++) {
        const patch = { spec: { leaseTransitions: n } };
        assert.equal((await server.call('PATCH', `${leases}/m-10.1.0.1`, patch, { headers })).status, 200);
        await pause(5);
      }
    },
    async order(id: string, wanted: string) {
      const text = JSON.stringify({ id, version: '1.1.0', sha256: wanted, timeoutSeconds: 60 });
      const patch = { metadata: { annotations: { [upgradeAnnotation]: text } } };
      assert.equal((await server.call('PATCH', `${leases}/m-10.1.0.1`, patch, { headers })).status, 200);
    },
  };
}

test('a master installs the ordered executable from the other master that has it', async (context) => {
  const { order, commands, directory, annotations } = await world(context);
  await eventually(systemClock, 'the announcement', async () => (await annotations())[upgradableAnnotation]);
  await order('1', sha256);
  await eventually(systemClock, 'the unit', () => commands.length > 0);
  assert.equal(readFileSync(join(directory, 'minik8s'), 'utf8'), 'the next version');
  assert.match(commands[0] ?? '', /^systemd-run .* upgrade --yes --no-backup --file .* --sha256 /);
});

test('a master reads its executable once for all orders, and not at all before the first', async (context) => {
  const { order, commands, annotations, renew, readings } = await world(context);
  await eventually(systemClock, 'the announcement', async () => (await annotations())[upgradableAnnotation]);
  await renew(10);
  assert.equal(readings(), 0);
  await order('1', sha256);
  await eventually(systemClock, 'the unit', () => commands.length > 0);
  await renew(10);
  assert.equal(readings(), 1);
});

test('an executable that no other master serves is not installed, and the reasons are reported', async (context) => {
  const { order, commands, annotations } = await world(context);
  await order('1', 'b'.repeat(64));
  const text = await eventually(
    systemClock,
    'a result',
    async () => (await annotations())[upgradeResultAnnotation],
  );
  const { id, error } = JSON.parse(text);
  assert.equal(id, '1');
  assert.ok(error.includes(digestOf('the version before')) && error.includes(sha256), error);
  assert.deepEqual(commands, []);
});

test('a master that created its Lease again announces again that it can upgrade itself', async (context) => {
  const { server, create, annotations } = await world(context);
  await eventually(systemClock, 'the announcement', async () => (await annotations())[upgradableAnnotation]);
  assert.equal((await server.call('DELETE', `${leases}/m-10.1.0.1`)).status, 200);
  await create('10.1.0.1');
  await eventually(systemClock, 'the announcement', async () => (await annotations())[upgradableAnnotation]);
});

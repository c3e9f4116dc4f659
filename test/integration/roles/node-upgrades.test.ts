/** Work of the agent for an ordered upgrade; it calls an API server with the identity of a node. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import {
  executableDocument,
  upgradableAnnotation,
  upgradeAnnotation,
  upgradeResultAnnotation,
} from '../../../src/api/core/v1/node/upgrade.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import type { NodeFeatureContext } from '../../../src/kubelet/node/node-feature.ts';
import type { Exec } from '../../../src/os/exec.ts';
import { nodeUpgrades } from '../../../src/roles/worker/node-upgrades.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const content = 'the executable of the master';
const sha256 = createHash('sha256').update(content).digest('hex');
const nodes = '/api/v1/nodes';

/** An agent, whose calls of systemd-run are recorded. */
async function world(context: TestContext, { isService = true } = {}) {
  const server = await startTestServer({
    clock: systemClock,
    documents: () => new Map([[executableDocument, () => new Response(content)]]),
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'minik8s-upgrades-'));
  assert.equal((await server.call('POST', nodes, { metadata: { name: 'n1' } })).status, 201);
  const transport = inProcessTransport(
    server.handlerFor({ name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] }),
  );
  const commands: string[] = [];
  const exec: Exec = async (file, args) => {
    commands.push([file, ...args].join(' '));
    return { stdout: '', stderr: '' };
  };
  const log = new RecordingLogger();
  let digest = 'f'.repeat(64);
  const random = new SeededRandom(5);
  const client = createClient(transport, { clock: systemClock, random });
  const start = () => {
    const stop = new AbortController();
    const feature = nodeUpgrades({
      transport,
      executable: '/usr/local/bin/minik8s',
      ownDigest: async () => digest,
      isService: async () => isService,
    });
    const parts = { client, exec, clock: systemClock, random, log, nodeName: 'n1', dataDir };
    const running = feature.start(parts as unknown as NodeFeatureContext).runAsMember?.(stop.signal);
    return async () => {
      stop.abort();
      await running;
    };
  };
  const annotations = async () => (await client.resource(nodeResource).get('n1')).metadata.annotations ?? {};
  const annotate = async (name: string, value: string | null) => {
    const patch = { metadata: { annotations: { [name]: value } } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    assert.equal((await server.call('PATCH', `${nodes}/n1`, patch, { headers })).status, 200);
  };
  context.after(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true });
  });
  return {
    start,
    commands,
    log,
    annotations,
    become: (other: string) => {
      digest = other;
    },
    directory: join(dataDir, 'upgrade'),
    annotate,
    order: (id: string, wanted = sha256) =>
      annotate(
        upgradeAnnotation,
        JSON.stringify({ id, version: '1.1.0', sha256: wanted, timeoutSeconds: 60 }),
      ),
    result: () =>
      eventually(systemClock, 'a result', async () => (await annotations())[upgradeResultAnnotation]),
  };
}

test('an order is carried out once, by a unit that outlives the agent', async (context) => {
  const { start, order, commands, directory, annotations } = await world(context);
  let end = start();
  await eventually(systemClock, 'the announcement', async () => (await annotations())[upgradableAnnotation]);
  await order('1');
  await eventually(systemClock, 'the unit', () => commands.length > 0);
  const file = join(directory, 'minik8s');
  assert.equal(readFileSync(file, 'utf8'), content);
  const log = join(directory, 'log');
  assert.deepEqual(commands, [
    `systemd-run --collect --quiet --unit=minik8s-upgrade --property=StandardOutput=append:${log} --property=StandardError=append:${log} ` +
      `/usr/local/bin/minik8s upgrade --yes --no-backup --file ${file} --sha256 ${sha256} --allow-downgrade --timeout 60s`,
  ]);
  await end();
  end = start();
  await eventually(
    systemClock,
    'the restarted agent',
    async () => (await annotations())[upgradableAnnotation],
  );
  await order('1');
  await end();
  assert.equal(commands.length, 1);
});

test('a failure of the unit is reported, also by an agent that was restarted', async (context) => {
  const { start, order, commands, directory, result, log } = await world(context);
  let end = start();
  await order('1');
  await eventually(systemClock, 'the unit', () => commands.length > 0);
  await end();
  end = start();
  writeFileSync(join(directory, 'log'), 'keep the installed file\nerror: it did not start; 1.0.0 runs\n');
  assert.deepEqual(JSON.parse(await result()), { id: '1', error: 'it did not start; 1.0.0 runs' });
  assert.ok(log.lines.some(({ message }) => message === 'an ordered upgrade has failed'));
  await order('2');
  await eventually(systemClock, 'the next order', () => commands.length === 2);
  await end();
});

test('an executable with another digest is never run', async (context) => {
  const { start, order, commands, result } = await world(context);
  const end = start();
  await order('1', 'b'.repeat(64));
  assert.match(
    JSON.parse(await result()).error,
    /^the master serves an executable with the SHA-256 digest .* upgrade all masters first$/,
  );
  assert.deepEqual(commands, []);
  await end();
});

test('an agent with the ordered executable does nothing', async (context) => {
  const { start, order, commands, become, annotations } = await world(context);
  become(sha256);
  await order('1');
  const end = start();
  await eventually(systemClock, 'the announcement', async () => (await annotations())[upgradableAnnotation]);
  await end();
  assert.deepEqual([commands, (await annotations())[upgradeResultAnnotation]], [[], undefined]);
});

test('an order that was carried out is not carried out again after the former executable was restored', async (context) => {
  const { start, order, commands, become, annotations, directory, annotate } = await world(context);
  let end = start();
  await order('1');
  await eventually(systemClock, 'the unit', () => commands.length > 0);
  await end();
  become(sha256);
  end = start();
  await eventually(systemClock, 'the end of the order', () => !existsSync(join(directory, 'minik8s')));
  await end();
  become('f'.repeat(64));
  // The turn of the loop that writes the annotation also reads the order.
  await annotate(upgradableAnnotation, null);
  end = start();
  await eventually(systemClock, 'a turn', async () => (await annotations())[upgradableAnnotation]);
  await order('2', 'b'.repeat(64));
  await eventually(systemClock, 'the next order', async () => (await annotations())[upgradeResultAnnotation]);
  await end();
  assert.equal(commands.length, 1);
});

test('an agent that is not an installed service announces nothing', async (context) => {
  const { start, order, commands, annotations } = await world(context, { isService: false });
  await order('1');
  await start()();
  assert.deepEqual(commands, []);
  assert.equal((await annotations())[upgradableAnnotation], undefined);
});

/** `minik8s status`, `logs` and `stop` with a real `up`: it is healthy, and its pods outlive it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { Cluster } from './harness/cluster.ts';
import { deployHello, readyPods } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

test('status reports up and its pods, logs prints its log, and stop leaves its pods running', {
  timeout: 400_000,
}, async (context) => {
  const closers: (() => Promise<void>)[] = [];
  context.after(async () => {
    for (const close of closers.reverse()) await close();
  });
  const host = await Host.start({ after: (fn) => closers.push(fn) });
  const log = join(host.directory, 'own.log');
  const cluster = await Cluster.start(context, { host, flags: ['--log-file', log] });
  await deployHello(cluster);
  await readyPods(cluster, 3);
  const own = ['--data-dir', cluster.dataDir];
  // The statuses of the pods are reported a moment after their readiness.
  const found = await waitFor('a healthy status', async () => {
    const { health, processes } = JSON.parse(await cluster.run('status', ...own, '-o', 'json'));
    return health === 'healthy' && processes[0].pods.value.running >= 3 && processes[0];
  });
  assert.deepEqual([found.role, found.pid], ['up', cluster.pid]);
  assert.equal(found.version, found.fileVersion);
  assert.deepEqual(found.nodes.value, { ready: 1, total: 1, notReady: [] });
  assert.match(found.engine.value, /^\d+\./);
  const lines = (await cluster.run('logs', ...own, '--component', 'kubelet', '-o', 'json'))
    .trimEnd()
    .split('\n');
  assert.ok(lines.length > 1);
  for (const line of lines) assert.match(JSON.parse(line).component, /^kubelet(\/|$)/);
  assert.equal(await cluster.run('logs', ...own), readFileSync(log, 'utf8'));
  await assert.rejects(
    cluster.run('stop', '--role', 'master', ...own),
    /minik8s up \(process \d+\) in \S+, which holds the role master, still runs; to stop it: minik8s stop --data-dir/,
  );
  assert.ok(cluster.running, 'it was not stopped');
  const answer = await cluster.run('stop', ...own);
  assert.match(answer, /^minik8s up \(process \d+\) has stopped\n\d+ pods keep running in Docker/);
  assert.match(answer, new RegExp(`start it again: setsid \\S+minik8s up .*--log-file ${log}`));
  const running = ['ps', '--quiet', '--filter', 'label=io.kubernetes.container.name=hello'];
  const containers = await systemExec('docker', ['-H', `unix://${host.dockerSocket}`, ...running]);
  assert.equal(containers.stdout.trim().split('\n').length, 3);
  await assert.rejects(
    cluster.run('status', ...own),
    (error: { failure?: { code?: number } }) => error.failure?.code === 3,
  );
});

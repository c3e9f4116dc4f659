import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { troubleText } from '../fixtures/troubleshooting.ts';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

test('a running cluster survives a disk that becomes full', async (context) => {
  const host = await Host.start(context, { images: [] });
  const cluster = await Cluster.start(context, { host, stopped: true });
  const { kubectl } = cluster;
  // Space for etcd's program and the segments of its log, which have 64 MB each.
  const data = join(cluster.dataDir, 'etcd');
  mkdirSync(data, { mode: 0o700 });
  await systemExec('mount', ['-t', 'tmpfs', '-o', 'size=180m', 'tmpfs', data]);
  await cluster.up();
  const value = 'x'.repeat(1_000_000);
  const write = (name: string) => {
    const input = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { value },
    });
    return kubectl.attempt(['create', '-f', '-'], { input });
  };
  const filler = join(data, 'filler');
  const written: string[] = [];

  await context.test(
    'each write to a full disk is rejected with one line, and acknowledged writes are kept',
    async () => {
      const free = Number((await host.run('df', '--output=avail', '-k', data)).split('\n')[1]);
      await host.run('fallocate', '-l', `${free - 4096}k`, filler);
      const refused = await waitFor('a write refused', async () => {
        const name = `big-${written.length}`;
        const answer = await write(name);
        if (answer.code === 0) written.push(name);
        return answer.code !== 0 && answer.stderr;
      });
      assert.match(
        refused,
        /^Error from server[^\n]* is full \([^\n]*no space left on device\): make room there[^\n]*\n$/,
      );
      assert.match(refused, troubleText('make room there'));
      assert.match(refused, /etcd allocates 64 MB at once/);
      await waitFor('readyz with the reason', async () => {
        const { stderr, stdout } = await kubectl.attempt(['get', '--raw', '/readyz?verbose']);
        return /\[-\]etcd failed: [^\n]*no space left on device/.test(stdout + stderr);
      });
      assert.match(cluster.log, /etcd ended, starting it again.*no space left on device/);
      context.diagnostic(`${written.length} written, then: ${refused.trim()}`);
    },
  );

  await context.test('the cluster continues when the disk has room again', async () => {
    rmSync(filler, { force: true });
    await waitFor('a write', async () => (await write('after')).code === 0, { intervalMs: 500 });
    const names = await kubectl('get', 'configmaps', '-o', 'name');
    for (const name of written) assert.match(names, new RegExp(`^configmap/${name}$`, 'm'));
    await waitFor('the node', async () => /^e2e +Ready/m.test(await kubectl('get', 'nodes')));
    assert.equal(await cluster.end('SIGTERM'), 0);
  });
});

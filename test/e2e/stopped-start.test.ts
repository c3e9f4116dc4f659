import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { holderOf } from '../../src/roles/data-directory.ts';
import { Cluster } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

/** Milliseconds after the start: before etcd runs, and while etcd, the API server and the node start. */
const delays = [60, 150, 300, 450, 600, 800, 1100, 1500];

async function endsWithin(child: ChildProcess, ms: number): Promise<unknown[]> {
  const limit = setTimeout(() => child.kill('SIGKILL'), ms);
  const end = await once(child, 'close');
  clearTimeout(limit);
  return end;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('Ctrl-C ends minik8s at any moment of a start', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host, stopped: true });
  const start = () => spawn(...cluster.command(), { stdio: ['ignore', 'pipe', 'pipe'] });
  const nothingRuns = () =>
    assert.deepEqual([cluster.processes('minik8s'), cluster.processes('etcd')], [[], []]);

  for (const delay of delays) {
    await context.test(`after ${delay} ms minik8s ends, and its etcd with it`, async () => {
      const child = start();
      const said = text(child.stderr);
      await pause(delay);
      child.kill('SIGINT');
      const [code, signal] = await endsWithin(child, 60_000);
      // Before the signal handlers are installed, a signal ends the process as it ends any program.
      assert.ok(code === 0 || signal === 'SIGINT', `${code} ${signal}: ${await said}`);
      assert.equal(holderOf(cluster.dataDir), undefined, 'the data directory was released');
      // A warning may report an interrupted operation; the stop itself is not an error.
      assert.doesNotMatch(await said, /^error: |\bERROR\b/m);
      nothingRuns();
    });
  }

  await context.test('a second Ctrl-C ends minik8s at once', async () => {
    const child = start();
    const said = text(child.stderr);
    const first = await Promise.race([once(child.stdout, 'data'), said]);
    assert.ok(Array.isArray(first), `it ended: ${first}`);
    child.kill('SIGINT');
    child.kill('SIGTERM');
    // The exit status shows that it did not wait for its parts to end; the time on a busy machine shows
    // nothing.
    const [code, signal] = await endsWithin(child, 60_000);
    assert.ok(code === 143 || code === 130, `${code} ${signal}`);
  });

  await context.test(
    'one of two processes on one data directory is rejected, and the other works',
    async () => {
      const [first, second] = [start(), start()];
      const refused = await Promise.race(
        [first, second].map(async (child) => ({ child, said: await text(child.stderr) })),
      );
      assert.match(refused.said, /^error: .* is used by minik8s with process id \d+; stop it[^\n]*\n$/);
      const other = refused.child === first ? second : first;
      const line = String((await once(other.stdout, 'data'))[0]);
      assert.match(line, /^minik8s is ready: /);
      other.kill('SIGINT');
      assert.deepEqual(await endsWithin(other, 60_000), [0, null]);
      nothingRuns();
    },
  );

  await context.test('minik8s starts completely after all interrupted starts', async () => {
    await cluster.up();
    await waitFor('the node with its role', async () =>
      /^e2e +Ready +control-plane /m.test(await cluster.kubectl('get', 'nodes')),
    );
    assert.equal(process.kill(cluster.pid, 'SIGHUP'), true);
    await waitFor('a word on the terminal in the log', () =>
      Promise.resolve(/the terminal was closed \(SIGHUP\): going on/.test(cluster.log)),
    );
    const stray = await endOf(host.command('docker', ['-H', `unix://${host.dockerSocket}`, 'ps', '-aq']));
    assert.ok(stray.stdout.split('\n').length <= 6, 'no more than the ready sandboxes');
    assert.equal(await cluster.end('SIGTERM'), 0);
    nothingRuns();
  });
});

/**
 * Waiting instances on a cluster of the built file: a waiting instance answers the call, and another instance
 * waits then.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Pod, V1PodList } from '@kubernetes/client-node';
import { systemExec } from '../../src/os/exec.ts';
import { makeRuntimeImage } from '../fixtures/runtime-images.ts';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

const image = `minik8s-test/pool-python:${process.pid}`;

test('a pool keeps waiting instances for functions', async (context) => {
  await makeRuntimeImage('python', image);
  context.after(() => systemExec('docker', ['image', 'rm', '--force', image]));
  const host = await Host.start(context, { images: [image] });
  const flags = ['--python-image', image, '--warm-pool', '1'];
  const cluster = await Cluster.start(context, { host, flags });
  const ctl = (...args: string[]) => cluster.run('ctl', '--kubeconfig', cluster.kubeconfig, ...args);
  const pods = async (selector: string): Promise<readonly V1Pod[]> =>
    (await cluster.kubectl.json<V1PodList>('get', 'pods', '--selector', selector)).items;
  const waiting = async () =>
    (await pods('minik8s.io/warm=python,!minik8s.io/function')).filter(({ status }) =>
      status?.containerStatuses?.some(({ state }) => state?.running),
    );
  const untilWaiting = (other?: string) =>
    waitFor(
      'an instance that waits',
      async () => (await waiting()).map(({ metadata }) => metadata?.uid).find((uid) => uid && uid !== other),
      { timeoutMs: 120_000 },
    );
  const folder = join(cluster.dataDir, 'source');
  await mkdir(folder);
  await writeFile(join(folder, 'main.py'), 'def handler(event):\n    return {"hello": event.get("name")}\n');
  await ctl('function', 'create', 'hello', '--from', folder, '--idle-seconds', '5', '--wait');

  await context.test(
    'a waiting instance answers the first call, and another instance waits then',
    async () => {
      const uid = await untilWaiting();
      const own = 'minik8s.io/function=hello';
      await waitFor('the removal of the instances', async () => (await pods(own)).length === 0, {
        timeoutMs: 90_000,
      });
      assert.equal(await ctl('execute', 'hello', '{"name":"you"}'), '{"hello":"you"}\n');
      const [answered] = await pods(own);
      assert.equal(answered?.metadata?.uid, uid);
      assert.equal(answered?.metadata?.ownerReferences?.[0]?.name, 'hello');
      assert.notEqual(await untilWaiting(uid), uid);
    },
  );

  await context.test('no instance waits without a function', async () => {
    await ctl('delete', 'function', 'hello');
    await waitFor('the removal of the pods', async () => (await pods('minik8s.io/warm')).length === 0, {
      timeoutMs: 90_000,
    });
    await waitFor('the removal of the versions', async () => {
      const left = await cluster.kubectl.json<{ items: unknown[] }>('get', 'functionversions');
      return left.items.length === 0;
    });
  });
});

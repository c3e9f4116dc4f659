/**
 * Volumes, hooks and probes of a pod that are too large, are removed, or never end: the state of the
 * pod, and the single event that reports the fault.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { CoreV1Event, CoreV1EventList, V1Container, V1Pod } from '@kubernetes/client-node';
import { Cluster } from './harness/cluster.ts';
import { isReady } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

const often = { periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 };

test('a pod with a faulty volume, hook or probe reports the fault in one event', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  const create = (object: object) =>
    kubectl.attempt(['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', ...object }) });
  const make = async (object: object) => {
    const { code, stderr } = await create(object);
    assert.equal(code, 0, stderr);
  };
  const configMap = (name: string, data: Record<string, string>) => ({
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });
  /** A pod with the ConfigMap of its name at /config. */
  const podWith = (name: string, container: Partial<V1Container> = {}) =>
    make({
      kind: 'Pod',
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 2,
        volumes: [{ name: 'config', configMap: { name } }],
        containers: [
          {
            name: 'main',
            image: helloImage,
            volumeMounts: [{ name: 'config', mountPath: '/config' }],
            ...container,
          },
        ],
      },
    });
  const read = (name: string) => kubectl.json<V1Pod>('get', 'pod', name);
  const ready = (name: string) => waitFor(`${name} ready`, async () => isReady(await read(name)));
  const shell = async (name: string, script: string) =>
    (await kubectl('exec', name, '--', 'sh', '-c', script)).trim();
  const eventsOf = async (name: string, reason: string) =>
    (
      await kubectl.json<CoreV1EventList>(
        ...['get', 'events', '--field-selector', `involvedObject.name=${name},reason=${reason}`],
      )
    ).items;
  /** Waits until the only event with the reason has been counted this many times, and returns it. */
  const toldOnce = async (name: string, reason: string, times = 1): Promise<CoreV1Event> => {
    const [event, ...more] = await waitFor(`${reason} of ${name}`, async () => {
      const events = await eventsOf(name, reason);
      return events.some(({ count = 0 }) => count >= times) && events;
    });
    assert.deepEqual(more, [], `${reason} of ${name}`);
    assert.ok(event);
    return event;
  };
  const leftOf = async (name: string) =>
    (await host.docker('ps', '--all', '--format', '{{.Names}}'))
      .split('\n')
      .filter((one) => one.includes(`_${name}_`));
  const remove = async (name: string) => {
    await kubectl('delete', 'pod', name, '--wait=true', '--timeout=60s');
    assert.deepEqual(await leftOf(name), []);
  };

  await Promise.all([
    context.test('a ConfigMap of 1 MiB and a ConfigMap with 300 keys are mounted', async () => {
      const big = 'x'.repeat(2 ** 20 - 1);
      await make(configMap('big', { a: big }));
      const keys = Array.from({ length: 300 }, (_, index) => `key-${index}`);
      await make(configMap('many', Object.fromEntries(keys.map((key) => [key, `of ${key}`]))));
      await podWith('big');
      await podWith('many', { envFrom: [{ configMapRef: { name: 'many' } }] });
      await ready('big');
      await ready('many');
      const sum = createHash('sha256').update(big).digest('hex');
      assert.equal(await shell('big', 'sha256sum /config/a'), `${sum}  /config/a`);
      assert.equal(await shell('many', 'ls /config | wc -l'), '300');
      assert.equal(await shell('many', 'cat /config/key-299'), 'of key-299');
      for (const name of ['big', 'many']) assert.deepEqual(await eventsOf(name, 'FailedMount'), []);
      await remove('big');
      await remove('many');
    }),

    context.test(
      'a ConfigMap of more than 1 MiB, or with a key that leads out of the folder, is rejected with one line',
      async () => {
        for (const [data, said] of [
          [{ a: 'x'.repeat(2 ** 20 + 1) }, /Too long: may not be more than 1048576 bytes/],
          [{ '..': 'x' }, /data\[\.\.\]: Invalid value: "\.\.": must not be '\.\.'/],
        ] as const) {
          const { code, stderr } = await create(configMap('bad', data));
          assert.equal(code, 1);
          assert.match(stderr, said);
          assert.equal(stderr.trim().split('\n').length, 1);
        }
      },
    ),

    context.test('a running pod keeps the contents of a ConfigMap that is deleted', async () => {
      await make(configMap('vanishing', { word: 'before' }));
      await podWith('vanishing', { command: ['sh', '-c', 'cat /config/word; sleep 1000'] });
      await ready('vanishing');
      await kubectl('delete', 'configmap', 'vanishing');
      const event = await toldOnce('vanishing', 'FailedMount', 2);
      assert.equal(
        event.message,
        'MountVolume.SetUp failed for volume "config" : configmap "vanishing" not found',
      );
      assert.ok((event.count ?? 0) < 10);
      assert.ok(isReady(await read('vanishing')));
      assert.equal(await shell('vanishing', 'cat /config/word'), 'before');
      await make(configMap('vanishing', { word: 'after' }));
      await waitFor('the new word', async () => (await shell('vanishing', 'cat /config/word')) === 'after');
      await remove('vanishing');
    }),

    context.test(
      'a pod with a hook that never ends is not ready, reports the hook, and is removed when it is deleted',
      async () => {
        await make(configMap('hooked', {}));
        await podWith('hooked', { lifecycle: { postStart: { exec: { command: ['sleep', '98701'] } } } });
        await toldOnce('hooked', 'Started');
        await new Promise((resolve) => setTimeout(resolve, 3000));
        const { status } = await read('hooked');
        assert.equal(status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating');
        for (const reason of ['Created', 'Started', 'Pulled'])
          assert.equal((await toldOnce('hooked', reason)).count, 1);
        assert.deepEqual(await eventsOf('hooked', 'FailedPostStartHook'), []);
        await remove('hooked');
        assert.equal((await toldOnce('hooked', 'Killing')).count, 1);
      },
    ),

    context.test(
      'a probe that hangs is reported by one event with a count, and causes no restart',
      async () => {
        await make(configMap('probed', {}));
        await podWith('probed', { readinessProbe: { exec: { command: ['sleep', '98702'] }, ...often } });
        const event = await toldOnce('probed', 'Unhealthy', 3);
        assert.match(
          event.message ?? '',
          /^Readiness probe failed: command timed out: "sleep 98702" timed out after 1s$/,
        );
        assert.equal((await read('probed')).status?.containerStatuses?.[0]?.restartCount, 0);
        await remove('probed');
      },
    ),
  ]);
});

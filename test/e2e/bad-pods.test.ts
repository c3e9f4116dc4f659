import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CoreV1EventList, V1ContainerState, V1Pod } from '@kubernetes/client-node';
import { Cluster } from './harness/cluster.ts';
import { isReady, restartsOf } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

/** Nothing listens at this address, so pulls fail at once; resolving a name would take long. */
const nowhere = '127.0.0.1:1/nothing:1';

/** Several tests wait at the same time for slow operations. */
const slowly = { intervalMs: 300 };

/** A pod without this probe is ready as soon as its program runs, possibly before it listens. */
const readinessProbe = { httpGet: { port: 8080 }, periodSeconds: 1 };

interface Container {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly ports?: readonly object[];
  readonly readinessProbe?: object;
}

test('a pod that cannot run has the reason in its status and in an event', {
  concurrency: true,
}, async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;

  const create = async (name: string, { image = 'minik8s/hello:1', ...container }: Container) => {
    const input = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'main', image, imagePullPolicy: 'IfNotPresent', ...container }],
      },
    });
    const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], { input });
    assert.deepEqual([code, stderr], [0, '']);
  };
  const read = (name: string) => kubectl.json<V1Pod>('get', 'pod', name);
  const stateOf = ({ status }: V1Pod): V1ContainerState => status?.containerStatuses?.[0]?.state ?? {};
  const waiting = (name: string, reason: string) =>
    waitFor(
      `${name} waiting with ${reason}`,
      async () => {
        const pod = await read(name);
        const { waiting: state } = stateOf(pod);
        if (state?.reason !== reason) throw new Error(JSON.stringify(pod.status?.containerStatuses));
        return pod;
      },
      slowly,
    );
  /** Returns the messages of all warning events with that reason, one a line. */
  const event = (name: string, reason: string) =>
    waitFor(
      `event ${reason} of ${name}`,
      async () => {
        const fields = `involvedObject.name=${name},reason=${reason}`;
        const { items } = await kubectl.json<CoreV1EventList>('get', 'events', '--field-selector', fields);
        const warnings = items.filter(({ type }) => type === 'Warning').map(({ message }) => message);
        return warnings.length > 0 ? warnings.join('\n') : undefined;
      },
      slowly,
    );

  await Promise.all([
    context.test('reports an image that does not exist', async () => {
      await create('no-image', { image: nowhere });
      const failed = await Promise.race([
        waiting('no-image', 'ErrImagePull'),
        waiting('no-image', 'ImagePullBackOff'),
      ]);
      assert.match(stateOf(failed).waiting?.message ?? '', /127\.0\.0\.1:1/);
      const backedOff = await waiting('no-image', 'ImagePullBackOff');
      assert.match(
        stateOf(backedOff).waiting?.message ?? '',
        /^Back-off pulling image "127\.0\.0\.1:1\/nothing/,
      );
      assert.equal(backedOff.status?.phase, 'Pending');
      assert.match(await event('no-image', 'Failed'), /127\.0\.0\.1:1\/nothing/);
      assert.match(await kubectl('get', 'pod', 'no-image'), /0\/1 +(ImagePullBackOff|ErrImagePull)/);
    }),

    context.test('reports an invalid image name', async () => {
      await create('bad-image', { image: 'Not A Name' });
      const { waiting: state } = stateOf(await waiting('bad-image', 'InvalidImageName'));
      assert.match(state?.message ?? '', /Not A Name/);
    }),

    context.test('reports unsupported fields', async () => {
      const image = 'minik8s/hello:1';
      const input = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'unserved' },
        spec: {
          hostnameOverride: 'other',
          containers: [{ name: 'main', image }],
        },
      });
      const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], { input });
      assert.equal(code, 0);
      assert.match(stderr, /^Warning: spec\.hostnameOverride: /);
      await waiting('unserved', 'NotSupported');
      assert.match(await kubectl('get', 'pod', 'unserved'), /0\/1 +NotSupported /);
      const message = await event('unserved', 'NotSupported');
      assert.match(message, /spec\.hostnameOverride$/);
      assert.ok((await kubectl('describe', 'pod', 'unserved')).includes(message));
      const logs = await kubectl.attempt(['logs', 'unserved']);
      assert.match(logs.stderr, /container "main" in pod "unserved" is waiting to start: NotSupported/);
    }),

    context.test('reports an init container that fails', async () => {
      const image = 'minik8s/hello:1';
      const command = ['sh', '-c', 'echo not yet; exit 4'];
      const input = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'steps' },
        spec: {
          initContainers: [
            { name: 'first', image, command: ['true'] },
            { name: 'second', image, command },
          ],
          containers: [{ name: 'main', image }],
        },
      });
      assert.equal((await kubectl.attempt(['create', '-f', '-'], { input })).code, 0);
      const pod = await waiting('steps', 'PodInitializing');
      assert.equal(pod.status?.phase, 'Pending');
      await waitFor(
        'its column',
        async () => /0\/1 +Init:CrashLoopBackOff +[1-9]/.test(await kubectl('get', 'pod', 'steps')),
        slowly,
      );
      assert.match(await event('steps', 'BackOff'), /^Back-off restarting failed container second/);
      assert.match(await kubectl('describe', 'pod', 'steps'), /Back-off restarting failed container second/);
      assert.equal(await kubectl('logs', 'steps', '-c', 'second'), 'not yet\n');
      const logs = await kubectl.attempt(['logs', 'steps']);
      assert.match(logs.stderr, /container "main" in pod "steps" is waiting to start: PodInitializing/);
      await kubectl('set', 'image', 'pod/steps', `second=${nowhere}`);
      await waitFor(
        'its column',
        async () => /0\/1 +Init:(ErrImagePull|ImagePullBackOff) /.test(await kubectl('get', 'pod', 'steps')),
        slowly,
      );
    }),

    context.test('reports a command that exits with an error', async () => {
      await create('ends', { command: ['sh', '-c', 'echo last words; exit 3'] });
      const pod = await waiting('ends', 'CrashLoopBackOff');
      assert.match(stateOf(pod).waiting?.message ?? '', /^back-off \d+s restarting failed container=main/);
      const { lastState } = pod.status?.containerStatuses?.[0] ?? {};
      assert.deepEqual([lastState?.terminated?.exitCode, lastState?.terminated?.reason], [3, 'Error']);
      assert.match(await event('ends', 'BackOff'), /^Back-off restarting failed container main in pod ends_/);
      const exec = await waitFor('an exec while it does not run', async () => {
        const tried = await kubectl.attempt(['exec', 'ends', '--', 'true']);
        return /container "main" is not running/.test(tried.stderr) && tried;
      });
      assert.equal(exec.code, 1);
      assert.match(exec.stderr, /it has ended with exit code 3 and waits to be restarted/);
      const restarted = await waitFor('a restart', async () => {
        const now = await read('ends');
        return restartsOf(now) >= 1 && now;
      });
      assert.equal(isReady(restarted), false);
      assert.equal(await kubectl('logs', '-p', 'ends'), 'last words\n');
      assert.match(await kubectl('get', 'pod', 'ends'), /0\/1 +(CrashLoopBackOff|Error|Running)/);
    }),

    context.test('reports a command that is not in the image', async () => {
      await create('no-command', { command: ['/bin/nothing-here'] });
      const pod = await waitFor('no-command failed', async () => {
        const now = await read('no-command');
        const status = now.status?.containerStatuses?.[0];
        const said = JSON.stringify([status?.state, status?.lastState]);
        return /RunContainerError|ContainerCannotRun/.test(said) && now;
      });
      const status = pod.status?.containerStatuses?.[0];
      const message = status?.state?.waiting?.reason?.startsWith('RunContainer')
        ? status.state.waiting.message
        : (status?.state?.terminated ?? status?.lastState?.terminated)?.message;
      assert.match(message ?? '', /"\/bin\/nothing-here".*no such file/i);
      assert.match(await event('no-command', 'Failed'), /nothing-here/);
    }),

    context.test('reports a port of the node that another pod uses', async () => {
      const serving = { ports: [{ containerPort: 8080, hostPort: 8080 }], readinessProbe };
      await create('first', serving);
      await waitFor('first ready', async () => isReady(await read('first')));
      await create('second', serving);
      const pending = await waitFor('second refused', async () => {
        const pod = await read('second');
        const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
        return scheduled?.status === 'False' && { phase: pod.status?.phase, ...scheduled };
      });
      assert.deepEqual([pending.phase, pending.reason], ['Pending', 'Unschedulable']);
      assert.match(
        pending.message ?? '',
        /^0\/1 nodes are available: .*free ports for the requested pod ports/,
      );
      assert.match(await event('second', 'FailedScheduling'), /free ports/);
      assert.equal(await host.page('127.0.0.1:8080'), 'hello from first');
      await kubectl('delete', 'pod', 'first', '--wait=true', '--timeout=60s');
      await waitFor('second ready', async () => isReady(await read('second')));
      assert.equal(await host.page('127.0.0.1:8080'), 'hello from second');
    }),

    context.test('reports a port of the node that another program uses', async () => {
      const free = await host.take('9090');
      await create('taken', { ports: [{ containerPort: 8080, hostPort: 9090 }], readinessProbe });
      const message = await event('taken', 'FailedCreatePodSandBox');
      assert.match(message, /^hostPort 9090\/TCP is taken by another process on this node; free it/);
      assert.equal((await read('taken')).status?.phase, 'Pending');
      await free();
      await waitFor('taken ready', async () => isReady(await read('taken')));
      assert.equal(await host.page(`${host.address}:9090`), 'hello from taken');
    }),

    context.test('reports volumes that cannot be mounted', async () => {
      const input = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'no-volume' },
        spec: {
          containers: [
            { name: 'main', image: 'minik8s/hello:1', volumeMounts: [{ name: 'v', mountPath: '/v' }] },
          ],
          volumes: [{ name: 'v', hostPath: { path: join(host.directory, 'missing'), type: 'Directory' } }],
        },
      });
      assert.equal((await kubectl.attempt(['create', '-f', '-'], { input })).code, 0);
      assert.match(await event('no-volume', 'FailedMount'), /"v".*\/missing/);
      mkdirSync(join(host.directory, 'missing'));
      await waitFor('no-volume ready', async () => isReady(await read('no-volume')));
    }),
  ]);
});

/**
 * Probes of the built file on the real engine: every kind of probe against programs in pods, and the
 * consequences.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CoreV1EventList, V1Container, V1Endpoints, V1Pod } from '@kubernetes/client-node';
import { Cluster } from './harness/cluster.ts';
import { isReady } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { processesNaming } from './harness/processes.ts';
import { waitFor } from './harness/wait-for.ts';

/**
 * A server on port 8080 that serves the files of /tmp/www: `live` from the start, and `ready` once a test
 * writes it.
 */
const server = 'mkdir -p /tmp/www && echo yes > /tmp/www/live && exec httpd -f -p 8080 -h /tmp/www';
const often = { periodSeconds: 1, failureThreshold: 1 };

test('probes decide readiness and restarts of pods', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  const create = (name: string, container: Partial<V1Container>, more: object = {}) =>
    kubectl.attempt(['apply', '-f', '-'], {
      input: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels: { app: name } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'main',
              image: helloImage,
              command: ['sh', '-c', server],
              ports: [{ name: 'web', containerPort: 8080 }],
              ...container,
            },
          ],
          ...more,
        },
      }),
    });
  const get = (name: string) => kubectl.json<V1Pod>('get', 'pod', name);
  const until = (name: string, what: string, test: (pod: V1Pod) => boolean, timeoutMs = 60_000) =>
    waitFor(
      `pod ${name}: ${what}`,
      async () => {
        const pod = await get(name);
        return test(pod) && pod;
      },
      { timeoutMs },
    );
  const shell = (name: string, script: string) => kubectl('exec', name, '--', 'sh', '-c', script);
  const eventsOf = async (name: string) =>
    (
      await kubectl.json<CoreV1EventList>('get', 'events', '--field-selector', `involvedObject.name=${name}`)
    ).items.map(({ reason, message }) => `${reason} ${message}`);
  const told = (name: string, event: RegExp) =>
    waitFor(`an event like ${event} of ${name}`, async () =>
      (await eventsOf(name)).some((one) => event.test(one)),
    );

  await context.test('a Service leaves out a pod while it is not ready', async () => {
    await create('web', { readinessProbe: { httpGet: { path: '/ready', port: 'web' }, ...often } });
    await kubectl('expose', 'pod', 'web', '--port=80', '--target-port=web');
    const addresses = async () =>
      (await kubectl.json<V1Endpoints>('get', 'endpoints', 'web')).subsets?.flatMap(
        ({ addresses: found = [] }) => found,
      ) ?? [];
    await until('web', 'runs and is not ready', (pod) => pod.status?.phase === 'Running' && !isReady(pod));
    await told('web', /^Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 404$/);
    assert.deepEqual(await addresses(), []);
    await shell('web', 'echo yes > /tmp/www/ready');
    await until('web', 'is ready', isReady);
    await waitFor('its address', async () => (await addresses()).length === 1);
    await shell('web', 'rm /tmp/www/ready');
    await waitFor('no address', async () => (await addresses()).length === 0);
    assert.equal(isReady(await get('web')), false);
  });

  await context.test('every kind of probe reaches a program in a pod', async () => {
    await create('asked', {
      startupProbe: { tcpSocket: { port: 8080 }, ...often, failureThreshold: 30 },
      readinessProbe: { exec: { command: ['sh', '-c', 'test -d /tmp/www'] }, ...often },
      livenessProbe: { httpGet: { path: '/live', port: 8080 }, periodSeconds: 1 },
    });
    const pod = await until('asked', 'is ready', isReady);
    assert.equal(pod.status?.containerStatuses?.[0]?.started, true);
  });

  await context.test('a container whose liveness probe fails is restarted, and its log is kept', async () => {
    const script = `echo begun; ${server}`;
    await create('dying', {
      command: ['sh', '-c', script],
      livenessProbe: { exec: { command: ['test', '!', '-e', '/tmp/sick'] }, ...often },
    });
    await until('dying', 'is ready', isReady);
    await shell('dying', 'touch /tmp/sick');
    await until('dying', 'runs again', (pod) => {
      const [status] = pod.status?.containerStatuses ?? [];
      return status?.restartCount === 1 && status.state?.running !== undefined;
    });
    await told('dying', /^Killing Container main failed liveness probe, will be restarted$/);
    assert.equal(await kubectl('logs', 'dying', '--previous'), 'begun\n');
  });

  await context.test(
    "a probe's program that hangs is killed with the processes that it started",
    async () => {
      const command = ['sh', '-c', 'sleep 98765 & sleep 98766'];
      await create('hanging', { readinessProbe: { exec: { command }, ...often } });
      await told('hanging', /^Unhealthy Readiness probe failed: command timed out: /);
      await kubectl('delete', 'pod', 'hanging', '--wait=true');
      await create('hung', { livenessProbe: { exec: { command }, ...often, failureThreshold: 3 } });
      await until('hung', 'runs', isReady);
      await waitFor('a run of it', () => processesNaming('98766').length > 0);
      // Each run begins when the processes of the previous run have ended.
      let most = 1;
      for (let look = 0; look < 20; look++) {
        most = Math.max(most, processesNaming('98766').length);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      // A shell and its program.
      assert.ok(most <= 2, `${most} processes of one probe`);
    },
  );

  await context.test('results of probes are kept over a kill of the agent, without a restart', async () => {
    const before = await until('asked', 'is ready', isReady);
    assert.equal(before.status?.containerStatuses?.[0]?.restartCount, 0);
    await cluster.end('SIGKILL');
    await cluster.up();
    const after = await get('asked');
    assert.deepEqual(after.status?.containerStatuses, before.status?.containerStatuses);
    const since = (pod: V1Pod) =>
      pod.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    assert.deepEqual(since(after), since(before));
    // The probes continue. The server keeps the folder that it has open: the pod is live, and not ready.
    await shell('asked', 'mv /tmp/www /tmp/elsewhere');
    const unready = await until('asked', 'is not ready', (pod) => !isReady(pod));
    assert.equal(unready.status?.containerStatuses?.[0]?.restartCount, 0);
  });

  await context.test('no program of a probe remains after its pod is deleted', async () => {
    await kubectl('delete', 'pods', '--all', '--wait=true');
    await waitFor('no program of a probe', () => processesNaming('98766').length === 0);
  });
});

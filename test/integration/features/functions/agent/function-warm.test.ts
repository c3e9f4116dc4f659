/** A node agent turns waiting instances on Docker into instances of a function. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { sha256 } from '../../../../../src/base/sha256.ts';
import { functionVersionResource } from '../../../../../src/features/functions/api/function-version.ts';
import { warmVersion } from '../../../../../src/features/functions/api/warm-instance.ts';
import { waitingInstance } from '../../../../../src/features/functions/controller/instance-plan.ts';
import { lockMachine } from '../../../../fixtures/machine-lock.ts';
import { eventually } from '../../../kubelet/node-harness.ts';
import { docker, type FunctionWorld, runtimeImages, startFunctionWorld } from './function-world.ts';

await lockMachine();

const sources = {
  python: {
    'main.py':
      'import os\ndef handler(event, context):\n    return [event, context.function_name, os.environ.get("A"), "FUNCTION_WAITS" in os.environ]\n',
  },
  nodejs: {
    'main.mjs':
      "export const handler = (event, { functionName }) => [event, functionName, process.env.A ?? null, 'FUNCTION_WAITS' in process.env];\n",
  },
} as const;

describe('an instance that waits', () => {
  let world: FunctionWorld;
  before(async () => {
    world = await startFunctionWorld();
  });
  after(() => world.close());
  const running = async (name: string) =>
    world.node.waitFor(name, ({ status }) => status?.containerStatuses?.[0]?.state?.running !== undefined);

  const containerOf = async (name: string) => {
    const { status } = await world.node.pod(name);
    return status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? '';
  };
  /** Creates a waiting instance and resolves when it runs. */
  async function waits(name: string, runtime: 'nodejs' | 'python', more: object = {}): Promise<void> {
    const versions = world.node.client.resource(functionVersionResource);
    const draft = warmVersion('default', runtime, runtimeImages[runtime], sha256);
    const version = await versions
      .get(draft.metadata.name ?? '', 'default')
      .catch(() => versions.create(draft));
    const { metadata, spec } = waitingInstance(version, []);
    const { affinity: _, ...rest } = spec;
    await world.node.createPod(name, { ...rest, ...more }, { labels: metadata.labels ?? {} });
    await running(name);
  }
  const give = (name: string, fn: string, version: string) => {
    const labels = { 'minik8s.io/function': fn, 'minik8s.io/function-version': version };
    return world.node.client.resource(podResource).patch(name, 'default', 'merge', { metadata: { labels } });
  };

  for (const runtime of ['python', 'nodejs'] as const)
    it(`becomes one of a ${runtime} function, with its files and its environment`, async () => {
      await waits(`w-${runtime}`, runtime);
      const fn = `given-${runtime}`;
      await world.createVersion(fn, {
        runtime,
        baseImage: runtimeImages[runtime],
        files: sources[runtime],
        env: [{ name: 'A', value: '1' }],
      });
      await give(`w-${runtime}`, fn, `${fn}-1`);
      assert.deepEqual(await world.answer(`w-${runtime}`, { n: 1 }), [{ n: 1 }, fn, '1', false]);
      // The instance keeps the function that it was given first.
      await world.createVersion(`${fn}-other`, {
        runtime,
        baseImage: runtimeImages[runtime],
        files: { 'main.py': 'def handler(e): return "other"\n' },
      });
      await give(`w-${runtime}`, `${fn}-other`, `${fn}-other-1`);
      assert.deepEqual(await world.answer(`w-${runtime}`, { n: 2 }), [{ n: 2 }, fn, '1', false]);
    });

  it('keeps waiting while the agent restarts, and becomes an instance of the version that was assigned meanwhile', async () => {
    const versions = world.node.client.resource(functionVersionResource);
    for (const name of ['kept', 'late']) {
      await waits(`w-${name}`, 'python');
      const spec = { runtime: 'python', baseImage: runtimeImages.python, files: sources.python };
      await world.createVersion(name, spec);
    }
    await give('w-kept', 'kept', 'kept-1');
    const kept = [{ n: 1 }, 'kept', null, false];
    assert.deepEqual(await world.answer('w-kept', { n: 1 }), kept);
    const container = await containerOf('w-kept');
    await world.node.stopAgent();
    await give('w-late', 'late', 'late-1');
    // A function that is already in a container is not read again, so its version may be deleted.
    await versions.delete('kept-1', 'default');
    const since = Date.now() / 1000;
    await world.startAgent();
    assert.deepEqual(await world.answer('w-late', { n: 2 }), [{ n: 2 }, 'late', null, false]);
    await eventually(async () => {
      const until = Date.now() / 1000;
      const filters = ['--filter', `container=${container}`, '--filter', 'event=kill'];
      const said = await docker('events', ...filters, '--since', `${since}`, '--until', `${until}`);
      assert.match(said, /signal=23\b/, 'its program is told again: the agent may have ended before it did');
    });
    assert.deepEqual(await world.answer('w-kept', { n: 1 }), kept);
    assert.equal((await world.node.pod('w-kept')).status?.phase, 'Running');
  });

  it('ends if it cannot become an instance of the assigned version', async () => {
    // The kernel drops a signal to the first process of a container while that process has no handler for it.
    await waits('w-refused', 'python', { terminationGracePeriodSeconds: 1 });
    await world.createVersion('limited', {
      runtime: 'python',
      baseImage: runtimeImages.python,
      files: sources.python,
      resources: { limits: { memory: '64Mi' } },
    });
    await give('w-refused', 'limited', 'limited-1');
    const { status } = await world.node.waitFor('w-refused', (pod) => pod.status?.phase === 'Failed');
    assert.equal(status?.reason, 'FunctionRefused');
    assert.match(status?.message ?? '', /it has resources of its own/);
  });

  it('ends at once when it is deleted', async () => {
    await waits('w-deleted', 'nodejs');
    await world.deletePod('w-deleted');
  });

  it('ends with the reason if its function cannot be loaded', async () => {
    await waits('w-broken', 'python');
    await world.createVersion('broken', {
      runtime: 'python',
      baseImage: runtimeImages.python,
      files: { 'main.py': 'import nothing_like_it\n' },
    });
    await give('w-broken', 'broken', 'broken-1');
    const { status } = await world.node.waitFor('w-broken', (pod) => pod.status?.phase === 'Failed');
    assert.match(
      status?.containerStatuses?.[0]?.state?.terminated?.message ?? '',
      /No module named 'nothing_like_it'/,
    );
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopContainers } from '../../../../src/kubelet/node/cleanup.ts';
import type { ContainerConfig } from '../../../../src/kubelet/runtime/container-config.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';
import { SimulatedRuntime } from '../../../fixtures/simulated-runtime.ts';
import { reference } from '../builders.ts';

async function running(stubborn: readonly string[]) {
  const clock = new FakeClock();
  const runtime = new SimulatedRuntime({
    clock,
    random: new SeededRandom(1),
    images: new Map(),
    onTerminate: ({ name }) => (stubborn.includes(name) ? 'ignore' : 'exit'),
  });
  const sandbox = await runtime.runSandbox({ ip: '10.0.0.1', hostname: 'web' });
  for (const [name, gracePeriodSeconds] of [
    ['quick', 5],
    ['slow', 30],
  ] as const) {
    const config = { pod: reference, name, sandboxId: sandbox.id, attempt: 0, gracePeriodSeconds };
    await runtime.startContainer(await runtime.createContainer(config as ContainerConfig));
  }
  const states = async () =>
    (await runtime.list()).filter(({ kind }) => kind === 'container').map(({ state }) => state);
  return { clock, runtime, states };
}

test('containers are stopped, and awaited only until they end', async () => {
  const { clock, runtime, states } = await running([]);
  await stopContainers(runtime, clock);
  assert.deepEqual(await states(), ['exited', 'exited']);
  assert.equal(clock.pending, 0);
});

test('a container that does not end gets its own grace period', async () => {
  const { clock, runtime, states } = await running(['slow']);
  let done = false;
  const stopping = stopContainers(runtime, clock).then(() => {
    done = true;
  });
  await clock.advance(29_999);
  assert.equal(done, false);
  assert.deepEqual((await states()).sort(), ['exited', 'running']);
  await clock.advance(1);
  await stopping;
  assert.equal(clock.pending, 0);
});

test('stopContainers returns at once if no container runs', async () => {
  const clock = new FakeClock();
  await stopContainers(
    new SimulatedRuntime({ clock, random: new SeededRandom(1), images: new Map() }),
    clock,
  );
  assert.equal(clock.pending, 0);
});

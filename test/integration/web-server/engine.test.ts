/** Calls of the real engine for the node's own container. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { dockerClient } from '../../../src/docker/client.ts';
import { dockerEngine } from '../../../src/web-server/engine.ts';
import { makeTestImages, type TestImages } from '../../fixtures/docker-images.ts';

const run = `engine-${process.pid}-${Date.now().toString(36)}`;

describe('the engine of the node’s own container', () => {
  const name = `minik8s-test-${run}`;
  const engine = dockerEngine(dockerClient());
  let images: TestImages;
  before(async () => {
    images = await makeTestImages(run);
  });
  after(async () => {
    await engine.remove(name);
    await images.remove();
  });

  it('reports that the container does not exist', async () => {
    assert.equal(await engine.inspect(name), undefined);
    await engine.remove(name);
    await assert.rejects(engine.exec(name, ['true']), /No such container/);
  });

  it('starts the container with the machine’s network, labels and files', async () => {
    await engine.start(name, {
      image: images.busybox,
      entrypoint: ['sh', '-c', 'echo said >&2; trap exit TERM; while true; do sleep 0.05; done'],
      labels: { 'minik8s.io/test': run },
      binds: ['/proc/self:/seen:ro'],
    });
    const state = await engine.inspect(name);
    assert.equal(state?.running, true);
    assert.equal(state?.labels['minik8s.io/test'], run);
    const { HostConfig } = await dockerClient().getContainer(name).inspect();
    assert.equal(HostConfig.NetworkMode, 'host');
    assert.equal(HostConfig.RestartPolicy?.Name, 'always');
    assert.deepEqual(HostConfig.Binds, ['/proc/self:/seen:ro']);
    await assert.rejects(
      engine.start(name, { image: images.busybox, entrypoint: ['sh'], labels: {}, binds: [] }),
      /is already in use/,
    );
  });

  it('runs programs in the container, and returns their output and exit status', async () => {
    const command = ['sh', '-c', 'echo out; echo err >&2; exit 3'];
    const { code, output } = await engine.exec(name, command);
    assert.equal(code, 3);
    assert.deepEqual(output.split(/\r?\n/), ['out', 'err']);
    assert.deepEqual(await engine.exec(name, ['true']), { code: 0, output: '' });
  });

  it('reads the output of the container without the engine’s framing', async () => {
    assert.equal(await engine.logs(name), 'said');
  });

  it('removes the container while it runs', async () => {
    await engine.remove(name);
    assert.equal(await engine.inspect(name), undefined);
  });

  it('reports which image cannot be pulled', async () => {
    const spec = { image: 'localhost:1/none', entrypoint: ['sh'], labels: {}, binds: [] };
    await assert.rejects(engine.start(name, spec), /^RuntimeError: Docker cannot pull localhost:1\/none: /);
  });
});

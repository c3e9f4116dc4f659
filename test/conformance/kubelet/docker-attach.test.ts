/** Containers of the real engine that end during an attach. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { type Docker, dockerClient } from '../../../src/docker/client.ts';
import { attachTo } from '../../../src/kubelet/runtime/docker-streams.ts';
import { makeTestImages, removeContainers, type TestImages } from '../../fixtures/docker-images.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';

const docker = dockerClient(dockerSocket);

describe('an attach to a container that ends in the meantime', () => {
  const owner = `attach-${process.pid}-${Date.now().toString(36)}`;
  let images: TestImages;

  before(async () => {
    images = await makeTestImages(owner);
  });
  after(async () => {
    await removeContainers(`minik8s.io/node=${owner}`);
    await images.remove();
  });

  /** Starts a container that prints `last words` when it is asked to end. */
  async function run(): Promise<Docker.Container> {
    const container = await docker.createContainer({
      Image: images.busybox,
      Cmd: ['sh', '-c', 'trap "echo last words; exit" TERM; while true; do sleep 0.05; done'],
      Labels: { 'minik8s.io/node': owner },
    });
    await container.start();
    return container;
  }

  async function end(container: Docker.Container): Promise<void> {
    await container.kill({ signal: 'SIGTERM' });
    await container.wait();
  }

  /** Returns the container with a hook around the attach itself. */
  function around(
    container: Docker.Container,
    attach: (attach: () => Promise<NodeJS.ReadWriteStream>) => Promise<NodeJS.ReadWriteStream>,
  ): Docker.Container {
    const real = container.attach.bind(container);
    return Object.assign(container, {
      attach: (options: Docker.ContainerAttachOptions) => attach(() => real(options)),
    });
  }

  function streamsTo(stdout: PassThrough) {
    return { stdin: undefined, stdout, stderr: undefined, sizes: (async function* () {})() };
  }

  const never = () => new AbortController().signal;

  it('is rejected if the container ended before the attach, and does not wait for output', async () => {
    const container = await run();
    const endedBefore = around(container, async (attach) => {
      await end(container);
      return attach();
    });
    const attached = attachTo(endedBefore, streamsTo(new PassThrough()), systemClock, never());
    await assert.rejects(attached, { name: 'RuntimeError', reason: 'Conflict' });
  });

  it('returns all output of the container without a failure if the container ends after the attach', async () => {
    const container = await run();
    const endedAfter = around(container, async (attach) => {
      const connection = await attach();
      await end(container);
      return connection;
    });
    const stdout = new PassThrough();
    await attachTo(endedAfter, streamsTo(stdout), systemClock, never());
    assert.equal(await text(stdout.end()), 'last words\n');
  });
});

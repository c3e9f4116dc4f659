import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { DockerRuntime } from '../../../src/kubelet/runtime/docker.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { makeTestImages, removeContainers } from '../../fixtures/docker-images.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';
import { importImage } from '../../fixtures/image-root.ts';
import { runtimeStreamsConformance } from './runtime-streams-suite.ts';
import { type RuntimeFixture, runtimeConformance } from './runtime-suite.ts';

const start = async (): Promise<RuntimeFixture> => {
  const owner = `conformance-${process.pid}-${Date.now().toString(36)}`;
  const images = await makeTestImages(owner);
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-runtime-'));
  const data = `minik8s-test/data:${owner}`;
  await mkdir(join(directory, 'data'));
  await writeFile(join(directory, 'data', 'greeting'), 'hello\n');
  await importImage(join(directory, 'data'), data, []);
  return {
    runtime: new DockerRuntime({
      owner,
      pauseImage: images.pause,
      initPath: join(directory, 'pause'),
      clock: systemClock,
      exec: systemExec,
    }),
    image: images.busybox,
    data,
    talker: ['sh', '-c', 'trap exit TERM; echo one; echo two; while true; do sleep 0.05; done'],
    failing: ['sh', '-c', 'exit 3'],
    copier: ['cat'],
    speaker: ['sh', '-c', 'echo out; echo err >&2; exit 3'],
    listener: ['httpd', '-f', '-p', '127.0.0.1:8080', '-h', '/etc'],
    async bringUp({ pid }) {
      await systemExec('nsenter', ['-t', String(pid), '-n', 'ip', 'link', 'set', 'lo', 'up']);
    },
    settle() {},
    readPauseArchive: async () => images.pauseArchive,
    async close() {
      await removeContainers(`minik8s.io/node=${owner}`);
      await images.remove();
      await systemExec('docker', ['-H', `unix://${dockerSocket}`, 'image', 'rm', data]);
      await rm(directory, { recursive: true, force: true });
    },
  };
};

runtimeConformance('docker', start);
runtimeStreamsConformance('docker', start);

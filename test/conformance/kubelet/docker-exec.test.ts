/** Programs of probes and hooks in containers of the real engine: their output and their remains. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { type Docker, dockerClient } from '../../../src/docker/client.ts';
import { execHandler } from '../../../src/kubelet/probes/handlers/exec.ts';
import { DockerRuntime } from '../../../src/kubelet/runtime/docker.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { makeTestImages, removeContainers, type TestImages } from '../../fixtures/docker-images.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const docker = dockerClient(dockerSocket);

describe('the program of a probe or hook', () => {
  const owner = `exec-${process.pid}-${Date.now().toString(36)}`;
  let images: TestImages;
  let directory: string;
  let container: Docker.Container;
  let runtime: DockerRuntime;

  before(async () => {
    images = await makeTestImages(owner);
    directory = await mkdtemp(join(tmpdir(), 'minik8s-exec-'));
    const initPath = join(directory, 'pause');
    runtime = new DockerRuntime({
      owner,
      pauseImage: images.pause,
      initPath,
      clock: systemClock,
      exec: systemExec,
    });
    container = await docker.createContainer({
      Image: images.busybox,
      Cmd: ['sh', '-c', 'trap exit TERM; while true; do sleep 0.05; done'],
      Labels: { 'minik8s.io/node': owner },
    });
    await container.start();
  });
  after(async () => {
    await removeContainers(`minik8s.io/node=${owner}`);
    await images.remove();
    await rm(directory, { recursive: true, force: true });
  });

  const run = (command: readonly string[], timeoutMs = 60_000, signal = new AbortController().signal) =>
    execHandler({ runtime, clock: systemClock }, container.id, command, timeoutMs, signal);

  /** Returns the command lines of this machine's processes that contain the word. */
  async function running(word: string): Promise<readonly string[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    // A number alone may also be part of the id of a container, which a shim has in its arguments.
    const found = lines.map((line) => line.replaceAll('\0', ' ').trim());
    return found.filter((line) => new RegExp(`\\bsleep ${word}`).test(line));
  }

  it('succeeds or fails by its exit status, and the result contains both outputs', async () => {
    assert.deepEqual(await run(['sh', '-c', 'echo err >&2; echo out']), {
      result: 'success',
      output: 'out\nerr\n',
      exitCode: 0,
    });
    assert.deepEqual(await run(['sh', '-c', 'echo no; exit 3']), {
      result: 'failure',
      output: 'no\n',
      exitCode: 3,
    });
  });

  it('fails if it does not exist', async () => {
    const { result, output } = await run(['/no/such/program']);
    assert.equal(result, 'failure');
    assert.match(output, /no such file or directory/);
  });

  it('may print more than 10 KB, of which the result contains 10 KB', async () => {
    const { result, output } = await run(['sh', '-c', 'seq 1 100000']);
    assert.equal(result, 'success');
    assert.equal(output.length, 10 * 1024);
    assert.ok(output.startsWith('1\n2\n3\n'));
  });

  it('is killed with all processes that it started when its timeout has passed', async () => {
    const script = 'sleep 86411 & (sleep 86412 &) ; trap "" TERM; sleep 86413; sleep 86414';
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const ended = execHandler({ runtime, clock }, container.id, ['sh', '-c', script], 1000, signal);
    while ((await running('8641[123]$')).length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(1000);
    const { rest, ...outcome } = await ended;
    assert.deepEqual(outcome, {
      result: 'failure',
      output: `command timed out: ${JSON.stringify(`sh -c ${script}`)} timed out after 1s`,
    });
    await rest;
    assert.deepEqual(await running('8641'), []);
    assert.equal((await container.inspect()).State.Running, true);
  });

  it('is killed when its call is aborted, even while it is about to start', async () => {
    for (let wait = 0; wait < 100; wait += 10) {
      const stop = new AbortController();
      const ended = run(['sleep', '86421'], 600_000, stop.signal);
      await new Promise((resolve) => setTimeout(resolve, wait));
      stop.abort();
      const { result, rest } = await ended;
      assert.equal(result, 'unknown');
      await rest;
      assert.deepEqual(await running('86421'), []);
    }
  });

  it('cannot be run in a container that has ended', async () => {
    const ended = await docker.createContainer({
      Image: images.busybox,
      Cmd: ['true'],
      Labels: { 'minik8s.io/node': owner },
    });
    await ended.start();
    await ended.wait();
    const signal = new AbortController().signal;
    const outcome = await execHandler({ runtime, clock: systemClock }, ended.id, ['true'], 5000, signal);
    assert.equal(outcome.result, 'unknown');
    assert.match(outcome.output, /is not running/);
  });
});

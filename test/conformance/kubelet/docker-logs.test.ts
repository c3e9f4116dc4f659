/**
 * Logs of containers that print more than is kept, on the real engine: the kept part, and the part that a
 * follower reads.
 */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { dockerClient } from '../../../src/docker/client.ts';
import { DockerRuntime } from '../../../src/kubelet/runtime/docker.ts';
import { engineLogConfig } from '../../../src/kubelet/runtime/log-rotation.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { makeTestImages, removeContainers, type TestImages } from '../../fixtures/docker-images.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';

const docker = dockerClient(dockerSocket);
const rotation = { maxBytes: 64 * 1024, maxFiles: 3 };
/** Number of lines of about 90 bytes each: they fill the kept files ten times over. */
const count = 20_000;
/** Command that prints a number a line, and sleeps so often that a reader keeps up. */
const talk = `i=0; while [ $i -lt ${count} ]; do echo "line $i"; i=$((i+1)); [ $((i % 100)) = 0 ] && sleep 0.02; done`;

describe('the log of a container that prints more than is kept', { timeout: 300_000 }, () => {
  const owner = `logs-${process.pid}-${Date.now().toString(36)}`;
  let images: TestImages;
  let runtime: DockerRuntime;

  before(async () => {
    images = await makeTestImages(owner);
    const initPath = '/proc/no-such/pause';
    runtime = new DockerRuntime({
      owner,
      pauseImage: images.pause,
      initPath,
      clock: systemClock,
      exec: systemExec,
    });
  });
  after(async () => {
    await removeContainers(`minik8s.io/node=${owner}`);
    await images.remove();
  });

  async function start(script: string, more: object = {}): Promise<string> {
    const container = await docker.createContainer({
      Image: images.busybox,
      Cmd: ['sh', '-c', script],
      Labels: { 'minik8s.io/node': owner },
      HostConfig: { LogConfig: engineLogConfig(rotation) },
      ...more,
    });
    await container.start();
    return container.id;
  }

  const read = async (id: string, more: object = {}): Promise<string> => {
    const options = { follow: false, timestamps: false, tailLines: undefined, since: undefined, ...more };
    const chunks: Uint8Array[] = [];
    for await (const chunk of await runtime.logs(id, options, AbortSignal.timeout(120_000)))
      chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const linesFrom = (first: number, end = '\n') =>
    Array.from({ length: count - first }, (_, index) => `line ${first + index}${end}`).join('');
  const countOf = (text: string) => text.split('\n').length - 1;

  for (const [title, more, end] of [
    ['', {}, '\n'],
    [' with a terminal', { Tty: true }, '\r\n'],
  ] as const) {
    it(`${title} is followed over every rotation, each line once`, async () => {
      const id = await start(talk, more);
      assert.equal(await read(id, { follow: true }), linesFrom(0, end));
    });
  }

  for (const slow of [false, true])
    it(`is followed over every rotation with each line once if the container prints without a pause${slow ? ', by a reader that is behind' : ''}`, async () => {
      const lines = 60_000;
      const pad = 'p'.repeat(80);
      const program = `BEGIN { for (i = 0; i < ${lines}; i++) print i " ${pad}" }`;
      // All files are kept: the reader has lost every missing line.
      const HostConfig = { LogConfig: engineLogConfig({ maxBytes: 64 * 1024, maxFiles: 400 }) };
      const id = await start(`sleep 0.5; awk '${program}'`, { HostConfig });
      const options = { follow: true, timestamps: false, tailLines: undefined, since: undefined };
      const chunks: Uint8Array[] = [];
      const { LogPath } = await docker.getContainer(id).inspect();
      for await (const chunk of await runtime.logs(id, options, AbortSignal.timeout(120_000))) {
        chunks.push(chunk);
        if (slow && chunks.length % 40 === 0) await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const rotated = (await readdir(dirname(LogPath))).filter((name) =>
        /-json\.log\.\d+$/.test(name),
      ).length;
      assert.ok(rotated > 100 && rotated < 399, `${rotated} rotations`);
      const text = Buffer.concat(chunks).toString();
      const expected = Array.from({ length: lines }, (_, index) => `${index} ${pad}\n`).join('');
      const at = [...text].findIndex((char, index) => char !== expected[index]);
      assert.ok(text === expected, `${text.length} bytes of ${expected.length}, other from ${at} on`);
    });

  it('has timestamps if the client requests them', async () => {
    const id = await start(talk);
    const text = await read(id, { follow: true, timestamps: true });
    assert.equal(text.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z /gm, ''), linesFrom(0));
    assert.equal(text.match(/Z line/g)?.length, count);
  });

  it('has the configured number and size of files, and its end is read across files, even after the container has ended', async () => {
    const id = await start(`${talk}; exit 3`);
    await docker.getContainer(id).wait();
    const { LogPath } = await docker.getContainer(id).inspect();
    const files = (await readdir(dirname(LogPath))).filter((name) => /-json\.log(\.\d+)?$/.test(name));
    assert.equal(files.length, rotation.maxFiles);
    for (const name of files) {
      const { size } = await stat(join(dirname(LogPath), name));
      assert.ok(size <= rotation.maxBytes + 200, `${name} has ${size} bytes`);
    }
    const kept = await read(id);
    const length = countOf(kept);
    // The length is more than two full files, and no more than three.
    assert.ok(length > 1300 && length < 2400, `${length} lines`);
    assert.equal(kept, linesFrom(count - length));
    assert.equal(await read(id, { follow: true }), kept);
    assert.equal(await read(id, { tailLines: 1200 }), linesFrom(count - 1200));
    assert.equal(await read(id, { tailLines: 1200, follow: true }), linesFrom(count - 1200));
  });

  it('contains long lines completely', async () => {
    const line = `head -c 40000 /dev/zero | tr '\\0' x; echo " $i"`;
    const id = await start(`i=0; while [ $i -lt 40 ]; do ${line}; i=$((i+1)); sleep 0.05; done`);
    const text = await read(id, { follow: true });
    const expected = Array.from({ length: 40 }, (_, index) => `${'x'.repeat(40_000)} ${index}\n`).join('');
    assert.equal(text.length, expected.length);
    assert.ok(text === expected);
  });

  for (const [title, more, end] of [
    ['', {}, '\n'],
    [' with a terminal', { Tty: true }, '\r\n'],
  ] as const)
    it(`${title} has one timestamp for each line, at its beginning, even if the engine splits the line`, async () => {
      const fill = (command: string) => `head -c 40000 /dev/zero | ${command}; echo`;
      const id = await start(
        `echo first; ${fill("tr '\\0' L")}; ${fill("tr '\\0' '\\377'")}; echo after`,
        more,
      );
      await docker.getContainer(id).wait();
      const expected = ['first', 'L'.repeat(40_000), '\uFFFD'.repeat(40_000), 'after'];
      for (const follow of [false, true]) {
        const lines = (await read(id, { timestamps: true, follow })).split(end);
        const bare = lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z /, ''));
        assert.deepEqual(
          lines.map((line, index) => line.length - (bare[index] ?? '').length),
          [31, 31, 31, 31, 0],
        );
        assert.ok(bare.join(end) === expected.join(end) + end, `follow=${follow}`);
      }
    });

  it('has a timestamp at the beginning of each line of both outputs', async () => {
    const say = (letter: string) => `head -c 40000 /dev/zero | tr '\\0' ${letter}; echo`;
    const id = await start(`(${say('o')}; ${say('o')}) & (${say('e')}; ${say('e')}) >&2; wait`);
    await docker.getContainer(id).wait();
    for (const follow of [false, true]) {
      const text = await read(id, { timestamps: true, follow });
      assert.equal(text.match(/\d{9}Z /g)?.length, 4, `follow=${follow}`);
      assert.equal(text.replace(/[^o]/g, '').length, 80_000);
      assert.equal(text.replace(/[^e]/g, '').length, 80_000);
    }
  });

  it('equals the output of docker logs when it is read from the files and through the API, with and without timestamps', async () => {
    const odd =
      'a"b\\\\c\\t<d>&\\342\\202\\254 \\342\\200\\250 \\360\\237\\230\\200 \\377 \\000\\001\\033[1m\\r';
    const script = `i=0; while [ $i -lt 300 ]; do printf '${odd} %s\\n' $i; i=$((i+1)); done; printf 'no end'`;
    for (const compress of ['false', 'true']) {
      const { Type, Config } = engineLogConfig({ maxBytes: 1024 * 1024, maxFiles: 3 });
      const id = await start(script, {
        HostConfig: { LogConfig: { Type, Config: { ...Config, compress } } },
      });
      await docker.getContainer(id).wait();
      for (const timestamps of [false, true])
        for (const tailLines of [undefined, 7]) {
          const flags = [...(timestamps ? ['--timestamps'] : []), `--tail=${tailLines ?? 'all'}`];
          const { stdout } = await systemExec('docker', [
            '-H',
            `unix://${dockerSocket}`,
            'logs',
            ...flags,
            id,
          ]);
          assert.ok(stdout.includes('299'));
          assert.equal(await read(id, { timestamps, tailLines }), stdout, `${compress} ${flags.join(' ')}`);
        }
    }
  });

  it('ends at the time of the request, with each line once, if the container prints continuously', async () => {
    const id = await start('i=0; while :; do echo "line $i"; i=$((i+1)); done');
    const options = { follow: false, timestamps: false, tailLines: undefined, since: undefined };
    for (let turn = 0; turn < 20; turn++) {
      let text = '';
      for await (const chunk of await runtime.logs(id, options, AbortSignal.timeout(60_000))) {
        text += Buffer.from(chunk).toString();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const numbers = text
        .trimEnd()
        .split('\n')
        .map((line) => Number(line.replace('line ', '')));
      const [first = 0] = numbers;
      assert.deepEqual(
        numbers,
        numbers.map((_, index) => first + index),
      );
    }
    await docker.getContainer(id).kill();
  });
});

/**
 * bin/with-docker removes everything that it started, however it ends. It uses this machine's programs here;
 * none is downloaded.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';

const script = join(import.meta.dirname, '../../../bin/with-docker');
/** Starts a container and prints that; then waits until it is ended. */
const command = `
set -e
root=$(mktemp -d "$TMPDIR/root-XXXXXX")
mkdir "$root/bin"
cp /bin/busybox "$root/bin"
tar -C "$root" -c . | docker import - rest:1 >/dev/null
docker run --detach --network none rest:1 /bin/busybox sleep 1000 >/dev/null
echo started
exec sleep 1000
`;

describe('bin/with-docker', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'minik8s-test-'));
    const programs = join(directory, 'minik8s/docker-28/bin');
    await mkdir(programs, { recursive: true });
    for (const name of ['dockerd', 'containerd', 'containerd-shim-runc-v2', 'runc'])
      await symlink((await systemExec('which', [name])).stdout.trim(), join(programs, name));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  /** Starts it in a process group of its own, as a shell does. */
  const start = (...args: readonly string[]) =>
    spawn(script, ['28', ...args], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, XDG_CACHE_HOME: directory, TMPDIR: directory },
    });

  async function started(child: ChildProcess): Promise<void> {
    let said = '';
    for await (const text of child.stdout ?? []) {
      said += text;
      if (said.includes('started')) return;
    }
    assert.fail(`the command has ended: ${said}`);
  }

  /** Returns the processes that name the folder in their command line, except those that are ending. */
  async function processes(): Promise<string[]> {
    const numbers = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = numbers.map((number) => readFile(`/proc/${number}/cmdline`, 'utf8').catch(() => ''));
    return (await Promise.all(lines)).filter((line) => line.includes(`${directory}/minik8s-docker28-`));
  }

  const left = async () => (await readdir(directory)).filter((name) => name.startsWith('minik8s-docker28-'));

  for (const [what, target] of [
    ['its process group, as Ctrl-C in a terminal does', (pid: number) => -pid],
    ['the script alone', (pid: number) => pid],
  ] as const) {
    it(`ends its engine and the containers when a signal ends ${what}`, async () => {
      const child = start('bash', '-c', command);
      const { pid } = child;
      assert.ok(pid);
      await started(child);
      assert.ok((await processes()).some((line) => line.includes('containerd-shim')));
      process.kill(target(pid), 'SIGTERM');
      const [status] = await once(child, 'close');
      assert.equal(status, 128 + 15);
      assert.deepEqual(await processes(), []);
      assert.deepEqual(await left(), []);
    });
  }

  it('ends with the exit status of its command', async () => {
    const [status] = await once(start('bash', '-c', 'exit 7'), 'close');
    assert.equal(status, 7);
    assert.deepEqual(await processes(), []);
  });
});

/** An image with accounts and groups. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { systemExec } from '../../../src/os/exec.ts';
import type { NodeHarness } from './node-harness.ts';

/**
 * Returns the tests' image with a user 1000 who is in the group 3000. The image is removed with the
 * containers of the test.
 */
export async function imageWithAccounts({ images, owner }: NodeHarness): Promise<string> {
  const docker = async (...args: string[]) =>
    (await systemExec('docker', args, { timeoutMs: 60_000 })).stdout.trim();
  const folder = await mkdtemp(join(tmpdir(), 'minik8s-accounts-'));
  await mkdir(join(folder, 'etc'));
  await writeFile(join(folder, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\napp:x:1000:1000::/:/bin/sh\n');
  await writeFile(join(folder, 'etc/group'), 'root:x:0:\napp:x:1000:\nextra:x:3000:app\n');
  const id = await docker('create', images.busybox);
  try {
    await docker('cp', `${folder}/etc`, `${id}:/`);
    const image = `minik8s-test/accounts:${owner}`;
    await docker('commit', id, image);
    after(() => docker('image', 'rm', '-f', image));
    return image;
  } finally {
    await docker('rm', id);
    await rm(folder, { recursive: true });
  }
}

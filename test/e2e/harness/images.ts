/** The images that tests use, created if this machine's engine lacks them. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemExec } from '../../../src/os/exec.ts';

export const helloImage = 'minik8s/hello:1';

const program = join(import.meta.dirname, '../../../bin/make-images');
let made: Promise<unknown> | undefined;

/** Skips existing images; rejects with one line that has the missing requirement. */
export async function makeImages(): Promise<void> {
  made ??= systemExec('flock', [join(tmpdir(), 'minik8s-images.lock'), program], { timeoutMs: 120_000 });
  await made;
}

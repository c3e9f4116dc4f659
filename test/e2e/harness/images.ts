/** The images that tests start from, made when this machine's engine lacks them. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemExec } from '../../../src/base/exec.ts';

export const helloImage = 'minik8s/hello:1';

const program = join(import.meta.dirname, '../../../bin/make-images');
let made: Promise<unknown> | undefined;

/** Does nothing that is done already; rejects with one line that says what is missing. */
export async function makeImages(): Promise<void> {
  made ??= systemExec('flock', [join(tmpdir(), 'minik8s-images.lock'), program], { timeoutMs: 120_000 });
  await made;
}

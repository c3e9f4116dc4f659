/** Container images in virtual machines, which reach no registry. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { dockerSocket } from '../fixtures/docker-socket.ts';
import type { Machine } from './machine.ts';

/** Copies images of this machine's engine, such as `minik8s/hello:1` (bin/make-images), into a machine's. */
export async function copyImages(machine: Machine, ...images: readonly string[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-vm-images-'));
  const archive = join(directory, 'images.tar');
  try {
    await systemExec('docker', ['-H', `unix://${dockerSocket}`, 'save', '-o', archive, ...images]);
    await machine.copyIn(archive, '/tmp/images.tar');
    await machine.output('docker load --quiet --input /tmp/images.tar && rm /tmp/images.tar');
  } finally {
    await rm(directory, { recursive: true });
  }
}

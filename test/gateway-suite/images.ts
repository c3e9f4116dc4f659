/**
 * Stand-ins for the images of the suite's manifests: each is the suite's own echo server. The server of names
 * among them, which only tests of UDPRoutes ask, answers nothing.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importImage } from '../fixtures/image-root.ts';
import { makeNginxImageOfTrixie } from '../fixtures/nginx-image.ts';
import type { Programs } from './programs.ts';

export const nginxImage = 'minik8s-test/nginx-gateway:suite';

/** Imports the images into this machine's engine; resolves to their names. */
export async function makeSuiteImages({ echo, images }: Programs): Promise<readonly string[]> {
  await makeNginxImageOfTrixie(nginxImage);
  const root = await mkdtemp(join(tmpdir(), 'minik8s-gateway-image-'));
  try {
    await cp(echo, join(root, 'echo-basic'));
    for (const name of images)
      await importImage(root, name, ['ENTRYPOINT ["/echo-basic"]', 'EXPOSE 3000 8443']);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  return [nginxImage, ...images];
}

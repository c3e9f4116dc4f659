/** Archives of images for clients that leave early. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { RequestScope } from '../../../../src/apiserver/request/request-scope.ts';
import { sendArchive } from '../../../../src/features/images/server/archive.ts';
import type { ImageObjects } from '../../../../src/features/images/server/image-objects.ts';
import type { ImageStore } from '../../../../src/features/images/server/image-store.ts';

test('an archive is closed if its client left while it was opened', async () => {
  const client = new AbortController();
  const body = new Readable({ read() {} });
  const image = {
    metadata: { name: 'app' },
    spec: { image: 'docker.io/library/app:1' },
    status: { content: { config: { digest: `sha256:${'0'.repeat(64)}`, size: 1 }, layers: [] } },
  };
  const store = {
    archive: async () => {
      client.abort();
      return { size: 1, body };
    },
  };
  const handler = sendArchive({
    store: store as unknown as ImageStore,
    objects: () => ({ get: async () => image }) as unknown as ImageObjects,
    nodeConnection: undefined,
  });
  const scope = { info: { name: 'app' }, headers: {}, signal: client.signal } as unknown as RequestScope;
  await assert.rejects(async () => handler(scope), /the request ended while the archive was opened/);
  assert.equal(body.destroyed, true);
});

/** FolderWatches that come and go, on a real folder: what each of them tells. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { FolderWatch } from '../../../src/api/minik8s/v1/folder-watch.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Client } from '../../../src/client/client.ts';
import { FolderWatches } from '../../../src/kubelet/folders/folder-watches.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const year = 31_557_600_000;

/** A node that watches; the cluster's side is this test. */
function start(context: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'minik8s-folder-watches-')));
  const folder = join(root, 'folder');
  mkdirSync(folder);
  const told: string[] = [];
  const said: string[] = [];
  const world = { held: Promise.resolve() };
  const resource = () => ({
    list: async () => ({ metadata: { resourceVersion: '1' }, items: [] }),
    async *watch({ signal }: { signal: AbortSignal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    create: async ({ spec }: { spec: { type: string; subject: string } }) =>
      void told.push(`${spec.type.split('.').at(-1)} ${spec.subject}`),
    patch: async (name: string) => {
      said.push(name);
      await world.held;
    },
  });
  const clock = new FakeClock(Date.now());
  const log = new RecordingLogger();
  const watches = new FolderWatches({
    ...{ clock, log, random: new SeededRandom(1), nodeName: 'n1', allowed: [root] },
    client: { resource } as unknown as Client,
    dataDir: join(root, 'data'),
  });
  const stop = new AbortController();
  const running = watches.run(stop.signal);
  context.after(async () => {
    stop.abort();
    await running;
    rmSync(root, { recursive: true });
  });
  return {
    ...{ folder, told, said, world, clock, log },
    apply: (type: 'ADDED' | 'DELETED', uid: string, since: number) => {
      const spec = {
        ...{ nodeName: 'n1', trigger: 't', source: 's', folder, path: '', recursive: false },
        ...{ types: ['Created', 'Updated', 'Deleted'], includeContent: false },
        since: new Date(since).toISOString(),
      };
      const metadata = { name: 'w', namespace: 'default', uid, resourceVersion: '1' };
      watches.apply({ type, object: { metadata, spec } as unknown as FolderWatch });
    },
    passes: (what: string, probe: () => boolean) =>
      eventually(systemClock, what, async () => {
        await clock.advance(500);
        return probe();
      }),
  };
}

test('a watch that is made again under its name does not go on with what the one before has told', async (context) => {
  const { folder, told, said, world, apply, passes, clock, log } = start(context);
  writeFileSync(join(folder, 'a'), 'text');
  const release = Promise.withResolvers<void>();
  world.held = release.promise;
  // It has been watched since a time after the file was written, and so counts it as told.
  apply('ADDED', 'one', Date.now() + year);
  await passes('the first one says that it watches', () => said.length === 1);
  apply('DELETED', 'one', Date.now() + year);
  apply('ADDED', 'two', 0);
  // The one before is at its end only when its last request is: until then nothing of its memory may be read.
  for (let i = 0; i < 20; i++) await clock.advance(500);
  assert.deepEqual(told, []);
  release.resolve();
  await passes('the file is told', () => told.length > 0);
  assert.deepEqual(told, ['created a']);
  assert.deepEqual(log.of('warn'), []);
});

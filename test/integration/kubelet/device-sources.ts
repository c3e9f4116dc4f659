/** A device manager with sources that tests change. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { DeviceManager } from '../../../src/kubelet/devices/device-manager.ts';
import type { ContainerState } from '../../../src/kubelet/runtime/runtime.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { makePod } from '../../unit/kubelet/builders.ts';

export const resource = 'example.com/gpu';

export const asking = (uid: string, count = 1, of = resource) =>
  makePod(
    { containers: [{ name: 'main', image: 'app:1', resources: { limits: { [of]: String(count) } } }] },
    { uid },
  );

export const directories: string[] = [];

export function directoryOf(): string {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-device-manager-'));
  directories.push(directory);
  return directory;
}

export function start(context: TestContext, dataDir = directoryOf()) {
  const clock = new FakeClock();
  const active = new Set<string>();
  const containers: ContainerState[] = [];
  const log = new RecordingLogger();
  const manager = new DeviceManager({
    ...{ dataDir, clock, log },
    containers: () => containers,
    isActive: (uid) => active.has(uid),
  });
  context.after(() => manager.close());
  return {
    ...{ manager, clock, active, log, dataDir },
    count: () => manager.counts.value.get(resource),
    async give(uid: string, count = 1): Promise<readonly string[] | undefined> {
      active.add(uid);
      return (await manager.giveTo(asking(uid, count), 'main')).ids[resource];
    },
    /** Adds a container to the engine. */
    has(uid: string, createdAt: number, ...ids: string[]): void {
      const pod = { uid, name: uid, namespace: 'default' };
      containers.push({
        pod,
        name: 'main',
        createdAt,
        devices: { [resource]: ids },
      } as unknown as ContainerState);
    },
  };
}

/** Removes the directories of a file’s tests after them. */
export function removeDirectories(): void {
  // The hooks of a test run in the order in which they were set: what the test started may write to the
  // directory until the last hook.
  after(() => {
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
}

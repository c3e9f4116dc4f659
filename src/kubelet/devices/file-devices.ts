/** Devices that are files of this machine, as the flag --devices specifies them. */
import { type FSWatcher, watch } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { keepDoing, Wake } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { DeviceManager } from './device-manager.ts';
import type { DeviceSource } from './device-source.ts';
import { type Device, DeviceError, type DeviceNode } from './plan/device.ts';
import type { DeviceRule } from './plan/device-rules.ts';

export interface FileDevicesOptions {
  readonly rule: DeviceRule;
  readonly manager: Pick<DeviceManager, 'set'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Delay before the directory is read after a change, and the interval at which it is read in any case,
 * because an event may be lost.
 */
const settleMs = 200;
const lookMs = 60_000;

export class FileDevices implements DeviceSource {
  readonly resource: string;
  readonly #options: FileDevicesOptions;
  #devices: readonly Device[] = [];

  constructor(options: FileDevicesOptions) {
    this.#options = options;
    this.resource = options.rule.resource;
  }

  get devices(): readonly Device[] {
    return this.#devices;
  }

  /** Reads the directory; the manager is informed when the devices have changed. */
  async look(): Promise<void> {
    const { manager, log, rule } = this.#options;
    const found = await devicesIn(rule).catch((error) => {
      log.warn('cannot look for devices', { resource: this.resource, error: errorMessage(error) });
      return this.#devices;
    });
    const isSame = JSON.stringify(found) === JSON.stringify(this.#devices);
    this.#devices = found;
    if (isSame && this.#isReported) return;
    this.#isReported = true;
    manager.set(this);
  }

  #isReported = false;

  async run(signal: AbortSignal): Promise<void> {
    const { clock, rule } = this.#options;
    const wake = new Wake();
    let watcher: FSWatcher | undefined;
    await keepDoing({ clock, signal, wake, restMs: lookMs, settleMs }, async () => {
      // Another directory may have this name by now.
      watcher?.close();
      watcher = watched(rule.directory, () => wake.call());
      await this.look();
    });
    watcher?.close();
  }

  async give(ids: readonly string[]): Promise<{ readonly nodes: readonly DeviceNode[] }> {
    for (const id of [...ids, ...this.#options.rule.shared])
      if (!(await numberOf(id))) throw new DeviceError(`${id} is no device of this machine`);
    return { nodes: [...ids, ...this.#options.rule.shared].map(whole) };
  }
}

export const whole = (path: string): DeviceNode => ({ source: path, target: path, permissions: 'rwm' });

/** Returns a watcher; undefined for a missing directory, which is checked periodically instead. */
function watched(directory: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, onChange);
    watcher.on('error', () => undefined);
    return watcher;
  } catch {
    return undefined;
  }
}

/**
 * Returns the devices. If a device has several names, the first one is used, because a device cannot be given
 * twice.
 */
async function devicesIn({ directory, name }: DeviceRule): Promise<readonly Device[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const seen = new Set<string>();
  const devices: Device[] = [];
  for (const path of names
    .filter((one) => name.test(one))
    .sort()
    .map((one) => join(directory, one))) {
    const number = await numberOf(path);
    if (number === undefined || seen.has(number)) continue;
    seen.add(number);
    devices.push({ id: path, healthy: true });
  }
  return devices;
}

/** Returns the number of a device, for comparison; undefined for a file that is not a device. */
export async function numberOf(path: string): Promise<string | undefined> {
  try {
    const found = await stat(await realpath(path));
    if (found.isCharacterDevice()) return `character ${found.rdev}`;
    return found.isBlockDevice() ? `block ${found.rdev}` : undefined;
  } catch {
    return undefined;
  }
}

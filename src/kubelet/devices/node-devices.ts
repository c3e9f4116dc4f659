/** All sources of a node's devices, and their manager. */
import { aborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { ContainerState } from '../runtime/runtime.ts';
import { DeviceManager } from './device-manager.ts';
import { DevicePlugins } from './device-plugins.ts';
import { FileDevices } from './file-devices.ts';
import { NvidiaCards, type NvidiaCardsOptions } from './nvidia-cards.ts';
import type { DeviceRule } from './plan/device-rules.ts';

export interface DeviceSettings {
  /** Devices that are files of this machine. */
  readonly rules: readonly DeviceRule[];
  /** Directory in which device plugins register; absent where none can. */
  readonly pluginDirectory?: string | undefined;
}

export interface NodeDevicesOptions {
  readonly settings: DeviceSettings | undefined;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly containers: () => readonly ContainerState[];
  readonly isActive: (uid: string) => boolean;
  /** Returns true when the engine has a runtime of that name. */
  readonly hasRuntime: (name: string) => boolean;
  /** Paths of the NVIDIA driver's files; default those of the machine. */
  readonly driver?: Pick<NvidiaCardsOptions, 'directory' | 'dev' | 'kernelLog'>;
}

export class NodeDevices {
  readonly manager: DeviceManager;
  readonly #looking: readonly (FileDevices | NvidiaCards)[];
  readonly #plugins: DevicePlugins | undefined;

  constructor(options: NodeDevicesOptions) {
    const { settings, clock, log, hasRuntime, driver } = options;
    const manager = new DeviceManager(options);
    this.manager = manager;
    const files = (settings?.rules ?? []).map((rule) => new FileDevices({ rule, manager, clock, log }));
    const hasHook = () => hasRuntime('nvidia');
    const cards = new NvidiaCards({ ...driver, manager, clock, log, hasHook });
    this.#looking = settings ? [...files, cards] : [];
    const directory = settings?.pluginDirectory;
    this.#plugins =
      directory === undefined ? undefined : new DevicePlugins({ directory, manager, clock, log });
  }

  /** Reads the devices; must be called before the Node's status is first reported. */
  async load(): Promise<void> {
    await this.manager.load();
    for (const source of this.#looking) await source.look();
  }

  /** Watches the sources until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const parts = [...this.#looking, ...(this.#plugins ? [this.#plugins] : [])];
    await Promise.all([...parts.map((part) => part.run(signal)), aborted(signal)]);
    await this.manager.close();
  }
}

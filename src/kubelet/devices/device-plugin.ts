/** One device plugin, from its registration until it ends. */
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { GrpcClient } from '../../grpc/client.ts';
import type { DeviceManager } from './device-manager.ts';
import type { DeviceSource } from './device-source.ts';
import type { Device, GivenDevices } from './plan/device.ts';
import {
  allocateMessage,
  beforeStartMessage,
  emptyMessage,
  type PluginOptions,
  pluginMethods,
  preferredMessage,
  readAllocated,
  readDevices,
  readOptions,
  readPreferred,
} from './plan/plugin-messages.ts';

export interface DevicePluginOptions {
  /** Path of the plugin's socket. */
  readonly path: string;
  readonly resource: string;
  readonly manager: Pick<DeviceManager, 'set' | 'away'>;
  readonly clock: Clock;
  readonly log: Logger;
}

const connectMs = 10_000;
/**
 * Timeout of a call. A plugin may reset its devices before a start (pkg/kubelet/cm/devicemanager allows the
 * same time).
 */
const callMs = 30_000;
const keepaliveMs = 60_000;
const maxMessageBytes = 16 << 20;

export class DevicePlugin implements DeviceSource {
  readonly resource: string;
  readonly #options: DevicePluginOptions;
  readonly #client: GrpcClient;
  readonly #abilities: PluginOptions;
  #devices: readonly Device[] = [];
  #isReplaced = false;

  private constructor(options: DevicePluginOptions, client: GrpcClient, abilities: PluginOptions) {
    this.resource = options.resource;
    this.#options = options;
    this.#client = client;
    this.#abilities = abilities;
  }

  /** Connects to a plugin; rejects when it does not respond. */
  static async connect(options: DevicePluginOptions): Promise<DevicePlugin> {
    const client = new GrpcClient({
      endpoint: `unix:${options.path}`,
      tls: {},
      keepaliveMs,
      connectMs,
      maxMessageBytes,
      clock: options.clock,
    });
    try {
      const answer = await client.call(pluginMethods.options, emptyMessage, connectMs);
      return new DevicePlugin(options, client, readOptions(answer));
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  get devices(): readonly Device[] {
    return this.#devices;
  }

  /**
   * Follows the plugin's devices; resolves when it has ended. Its devices are away then, unless another
   * plugin offers them.
   */
  async follow(): Promise<void> {
    const { manager, log } = this.#options;
    try {
      const stream = this.#client.stream(pluginMethods.devices, {}, { onFailure: () => {}, onEnd: () => {} });
      stream.send(emptyMessage);
      stream.endSending();
      for await (const message of stream.messages()) {
        if (this.#isReplaced) break;
        this.#devices = readDevices(message);
        manager.set(this);
      }
    } catch (error) {
      if (!this.#isReplaced) log.debug('a device plugin sends no more', { error: errorMessage(error) });
    }
    this.#client.destroy();
    manager.away(this);
    if (!this.#isReplaced) log.info('a device plugin has gone', { resource: this.resource });
  }

  /** Ends the plugin because another one has registered for its resource. */
  replace(): void {
    this.#isReplaced = true;
    this.#client.destroy();
  }

  close(): void {
    this.replace();
  }

  async preferred(
    available: readonly string[],
    must: readonly string[],
    count: number,
  ): Promise<readonly string[]> {
    if (!this.#abilities.preferred) return [];
    const question = preferredMessage(available, must, count);
    return readPreferred(await this.#client.call(pluginMethods.preferred, question, callMs));
  }

  async give(ids: readonly string[]): Promise<Partial<GivenDevices>> {
    return readAllocated(await this.#client.call(pluginMethods.allocate, allocateMessage(ids), callMs));
  }

  async beforeStart(ids: readonly string[]): Promise<void> {
    if (this.#abilities.beforeStart)
      await this.#client.call(pluginMethods.beforeStart, beforeStartMessage(ids), callMs);
  }
}

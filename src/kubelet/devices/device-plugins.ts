/**
 * Kubernetes' device plugins: programs that offer the devices of a resource through a socket in one
 * directory. They register at the agent's socket there, and again each time the socket is created. Only root
 * can access the directory.
 */
import { lstat, mkdir, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isExtended, validateContainerResourceName } from '../../api/core/v1/container/resource-names.ts';
import { aborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { removeUnservedSocket, serveUnary, type UnaryServer } from '../../grpc/server.ts';
import { GrpcError } from '../../grpc/status.ts';
import type { DeviceManager } from './device-manager.ts';
import { DevicePlugin } from './device-plugin.ts';
import {
  emptyMessage,
  pluginMethods,
  pluginVersion,
  type Registration,
  readRegistration,
} from './plan/plugin-messages.ts';

export interface DevicePluginsOptions {
  readonly directory: string;
  readonly manager: Pick<DeviceManager, 'set' | 'away'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Name of the agent's socket that plugins expect (upstream's KubeletSocket). */
const ownSocket = 'kubelet.sock';
const maxRegistrationBytes = 64 * 1024;

export class DevicePlugins {
  readonly #options: DevicePluginsOptions;
  readonly #plugins = new Map<string, DevicePlugin>();
  /** Work for each plugin, until the plugin has ended. */
  readonly #following = new Set<Promise<void>>();

  constructor(options: DevicePluginsOptions) {
    this.#options = options;
  }

  /** Serves registrations until the signal aborts. Never rejects: a node without device plugins works. */
  async run(signal: AbortSignal): Promise<void> {
    const { directory, log } = this.#options;
    let server: UnaryServer | undefined;
    try {
      await mkdir(directory, { recursive: true, mode: 0o750 });
      await requireClosed(directory);
      server = await serveUnary({
        path: join(directory, ownSocket),
        methods: { [pluginMethods.register]: (message) => this.#register(readRegistration(message)) },
        maxMessageBytes: maxRegistrationBytes,
      });
    } catch (error) {
      log.warn('no device plugin can register on this node', { directory, error: errorMessage(error) });
    }
    await aborted(signal);
    await server?.close();
    for (const plugin of this.#plugins.values()) plugin.close();
    await Promise.all(this.#following);
  }

  async #register(wanted: Registration): Promise<Buffer> {
    const { directory, manager, clock, log } = this.#options;
    const { resource } = wanted;
    try {
      await requireValid(directory, wanted);
      const plugin = await DevicePlugin.connect({
        path: join(directory, wanted.endpoint),
        resource,
        manager,
        clock,
        log,
      });
      this.#plugins.get(resource)?.replace();
      this.#plugins.set(resource, plugin);
      const following = plugin.follow().finally(() => {
        this.#following.delete(following);
        if (this.#plugins.get(resource) === plugin) this.#plugins.delete(resource);
      });
      this.#following.add(following);
      log.info('a device plugin has registered', { resource, endpoint: wanted.endpoint });
      return emptyMessage;
    } catch (error) {
      log.warn('a device plugin cannot register', { resource, error: errorMessage(error) });
      throw error instanceof GrpcError ? error : new GrpcError('INVALID_ARGUMENT', errorMessage(error));
    }
  }
}

/** Directory of Kubernetes' node agent; by default it contains the directory of the plugins. */
const kubeletDirectory = '/var/lib/kubelet';

/** Removes the socket that a killed agent left in the directory, and the directory when it is empty. */
export async function removePluginSocket(directory: string): Promise<void> {
  await removeUnservedSocket(join(directory, ownSocket));
  await removeIfEmpty(directory);
  if (dirname(directory) === kubeletDirectory) await removeIfEmpty(kubeletDirectory);
}

/** Keeps a directory that is used or mounted, and a symbolic link to a directory (ENOTDIR). */
async function removeIfEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (!['ENOENT', 'ENOTEMPTY', 'EBUSY', 'ENOTDIR'].includes(error.code ?? '')) throw error;
  });
}

/**
 * Rejects when others can write to the directory: they could offer devices, and with them any file of the
 * machine.
 */
async function requireClosed(directory: string): Promise<void> {
  const { uid, mode } = await lstat(directory);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new Error(`other users can write to ${directory}: change its owner or its mode`);
}

/**
 * Validates a registration: the endpoint must be a plain name of a socket in the directory, so that the
 * checked path is the one that is used.
 */
async function requireValid(directory: string, { version, endpoint, resource }: Registration): Promise<void> {
  if (version !== pluginVersion)
    throw new Error(
      `this agent has version ${pluginVersion} of the device plugin API, not ${JSON.stringify(version)}`,
    );
  if (!isExtended(resource) || validateContainerResourceName(resource, '').length > 0)
    throw new Error(`${JSON.stringify(resource)} cannot be the name of a resource of devices`);
  if (!/^[^/\0]+$/.test(endpoint) || ['.', '..', ownSocket].includes(endpoint))
    throw new Error(`${JSON.stringify(endpoint)} is not the name of a socket beside the agent's`);
  const found = await lstat(join(directory, endpoint)).catch(() => undefined);
  if (!found?.isSocket()) throw new Error(`${join(directory, endpoint)} is no socket`);
}

/** The store of a control plane: an etcd of its own, run as a child, or one that is given. */
import { access, constants, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onAbort, unlessAborted } from '../../base/abort.ts';
import { extractAsset } from '../../base/assets.ts';
import { inBackground } from '../../base/in-background.ts';
import { UsageError } from '../../base/usage-error.ts';
import { runCompactor } from '../../storage/compactor.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../../storage/embedded-etcd.ts';
import { connectEtcd, type EtcdOptions } from '../../storage/etcd.ts';
import { type Store, StoreUnavailableError } from '../../storage/store.ts';
import type { ProcessContext } from '../process-context.ts';
import type { Settings } from '../settings/settings.ts';

export interface StorageOptions extends Omit<ProcessContext, 'loopMeter'> {
  readonly settings: Settings<'data-dir' | 'etcd-endpoints' | 'etcd-ca' | 'etcd-cert' | 'etcd-key'>;
}

export interface OpenedStorage {
  readonly store: Store;
  /** Of the etcd inside, where there is one: a unix socket of this user. */
  readonly etcdSocket: string | undefined;
}

/** The store, which answers; what it needs is closed with the stack. */
export async function openStorage(
  options: StorageOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<OpenedStorage> {
  const opened = await openStore(options, stack, signal);
  const { store } = opened;
  void inBackground(stack, (until) => runCompactor({ store, clock: options.clock, log: options.log }, until));
  const { room } = store;
  if (room) void inBackground(stack, (until) => room.keep(until));
  return opened;
}

async function openStore(
  options: StorageOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<OpenedStorage> {
  const { settings, log, clock, random } = options;
  if (settings['etcd-endpoints'] === undefined) {
    const { endpoints, keepaliveMs, trouble } = await startEtcd(options, stack, signal);
    // It listens where nobody else can enter.
    const own = { endpoints, keepaliveMs, trouble, isOnlyWriter: true };
    const connected = connect({ ...own, log, clock, random }, stack, signal);
    const store = await connected.catch((error) => {
      throw error instanceof StoreUnavailableError && error.trouble ? new Error(error.trouble) : error;
    });
    return { store, etcdSocket: endpoints[0]?.replace(/^unix:/, '') };
  }
  const endpoints = settings['etcd-endpoints'];
  const tls = await etcdTls(settings);
  const connected = connect({ endpoints, ...(tls && { tls }), log, clock, random }, stack, signal);
  const store = await connected.catch((error) => {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // What helps is how the last call failed: behind its status.
    const [, why = error.message] = /\d+ [A-Z_]+: (.+)$/.exec(error.message) ?? [];
    const advice = `start it, or correct --etcd-endpoints${tls ? ', --etcd-ca, --etcd-cert and --etcd-key' : ''}`;
    throw new Error(`no etcd answers at ${endpoints.join(', ')} (${why}); ${advice}`);
  });
  return { store, etcdSocket: undefined };
}

/** An etcd of this process. */
async function startEtcd(
  { settings, log, clock }: StorageOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<EmbeddedEtcd> {
  const dataDir = join(settings['data-dir'], 'etcd');
  const directory = join(settings['data-dir'], 'bin/etcd');
  const [binary, earlierBinary] = [join(directory, 'etcd'), `${directory}-earlier`];
  await setAside(directory, earlierBinary);
  await extractAsset('etcd', binary, 0o755);
  signal.throwIfAborted();
  // The signal that stops everything does until there is one; from then on etcd ends after whoever writes to it.
  const abandoned = new AbortController();
  const forget = onAbort(signal, () => abandoned.abort(signal.reason));
  const etcd = await startEmbeddedEtcd({
    ...{ binary, earlierBinary, dataDir, log, clock },
    signal: abandoned.signal,
  });
  forget();
  stack.defer(() => etcd.stop());
  return etcd;
}

/**
 * An earlier minik8s put its etcd where the directory of this one's is. So it is there to read its data, and that
 * minik8s cannot start here any more: its etcd would write on in the data of this one, and then neither could read
 * them.
 */
async function setAside(directory: string, earlierBinary: string): Promise<void> {
  const found = await stat(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (found?.isFile()) await rename(directory, earlierBinary);
}

async function connect(
  options: EtcdOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<Store> {
  const connecting = connectEtcd(options);
  try {
    const store = await unlessAborted(signal, connecting);
    stack.defer(() => store.close());
    return store;
  } catch (error) {
    // It may still answer after nobody waits for it.
    connecting.then(
      (store) => store.close(),
      () => undefined,
    );
    throw error;
  }
}

type EtcdFiles = Settings<'etcd-endpoints' | 'etcd-ca' | 'etcd-cert' | 'etcd-key'>;

async function etcdTls(settings: EtcdFiles): Promise<EtcdOptions['tls']> {
  const { 'etcd-ca': ca, 'etcd-cert': cert, 'etcd-key': key } = settings;
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--etcd-cert and --etcd-key belong together: give both or neither');
  }
  if (ca === undefined && cert !== undefined) {
    throw new UsageError('--etcd-cert needs --etcd-ca, the authority that signed the certificates of etcd');
  }
  for (const name of ['etcd-ca', 'etcd-cert', 'etcd-key'] as const) {
    const path = settings[name];
    if (path === undefined) continue;
    await access(path, constants.R_OK).catch((error) => {
      throw new UsageError(
        `--${name}: "${path}" cannot be read (${error.code}); give the path of a PEM file`,
      );
    });
  }
  if (ca === undefined) return undefined;
  return cert && key ? { ca, cert, key } : { ca };
}

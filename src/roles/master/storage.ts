/** The store of a control plane: an embedded etcd that runs as a child process, or an external one. */
import { existsSync } from 'node:fs';
import { access, constants, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onAbort, unlessAborted } from '../../base/abort.ts';
import { inBackground } from '../../base/in-background.ts';
import type { Logger } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { extractAsset } from '../../os/assets.ts';
import { systemExec } from '../../os/exec.ts';
import { runCompactor } from '../../storage/compactor.ts';
import { type EmbeddedEtcd, startEmbeddedEtcd } from '../../storage/embedded-etcd.ts';
import { connectEtcd, type EtcdOptions } from '../../storage/etcd.ts';
import { etcdAdvice } from '../../storage/etcd-output.ts';
import { type Store, StoreUnavailableError } from '../../storage/store.ts';
import type { ProcessContext } from '../process-context.ts';
import type { Settings } from '../settings/setting-table.ts';
import { mendingOf } from './mending.ts';

/**
 * Timeout of the first answer of the embedded etcd in milliseconds. etcd reads its write-ahead log when it
 * starts: a gigabyte or more if objects are large. A restart of the master would begin that again.
 */
const etcdStartMs = 300_000;

export interface StorageOptions extends Omit<ProcessContext, 'loopMeter' | 'log'> {
  readonly log: Logger;
  readonly settings: Settings<
    'data-dir' | 'backup-dir' | 'etcd-endpoints' | 'etcd-ca' | 'etcd-cert' | 'etcd-key'
  >;
}

export interface OpenedStorage {
  readonly store: Store;
  /** The unix socket of the embedded etcd, accessible to this user only; undefined for an external etcd. */
  readonly etcdSocket: string | undefined;
}

/** Resolves to a store that answers. Its resources are released with the stack. */
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
    // The embedded etcd listens on a socket that no other user can reach.
    const own = { endpoints, keepaliveMs, trouble, isOnlyWriter: true, startMs: etcdStartMs };
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
    // The useful part of the error is the reason of the last call, after the gRPC status.
    const [, why = error.message] = /\d+ [A-Z_]+: (.+)$/.exec(error.message) ?? [];
    const advice = `start it, or correct --etcd-endpoints${tls ? ', --etcd-ca, --etcd-cert and --etcd-key' : ''}`;
    throw new Error(`no etcd answers at ${endpoints.join(', ')} (${why}); ${advice}`);
  });
  return { store, etcdSocket: undefined };
}

/** Returns the path of the etcd inside, once it is extracted. */
export const etcdBinaryIn = (dataDir: string): string => join(dataDir, 'bin/etcd/etcd');

/** Starts an embedded etcd. */
async function startEtcd(
  { settings, log, clock }: StorageOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<EmbeddedEtcd> {
  const dataDir = join(settings['data-dir'], 'etcd');
  const directory = join(settings['data-dir'], 'bin/etcd');
  const [binary, earlierBinary] = [etcdBinaryIn(settings['data-dir']), `${directory}-earlier`];
  const places = { dataDir: settings['data-dir'], backupDir: settings['backup-dir'] };
  await setAside(directory, earlierBinary);
  await extractAsset('etcd', binary, 0o755);
  signal.throwIfAborted();
  // Until etcd has started, the signal that stops the process aborts the start. After that, etcd is stopped
  // by the stack, after the parts that write to it.
  const abandoned = new AbortController();
  const forget = onAbort(signal, () => abandoned.abort(signal.reason));
  const mending = () => mendingOf({ ...places, etcdBinary: binary, exec: systemExec });
  await requireDataOfMaster(settings['data-dir'], dataDir, mending);
  const etcd = await startEmbeddedEtcd({
    ...{ binary, earlierBinary, dataDir, mending, log, clock },
    signal: abandoned.signal,
  });
  forget();
  stack.defer(() => etcd.stop());
  return etcd;
}

/**
 * Rejects if the data of a master that has run are gone, as those on a disk that is not mounted: etcd would
 * begin anew, empty.
 */
async function requireDataOfMaster(
  directory: string,
  etcdDirectory: string,
  mending: () => Promise<string>,
): Promise<void> {
  const hasData = ['data', 'data.ready'].some((name) => existsSync(join(etcdDirectory, name)));
  if (hasData || !existsSync(join(directory, 'admin.conf'))) return;
  const line = 'there are none, but a master has run here';
  throw new Error(etcdAdvice({ line, trouble: 'damaged' }, etcdDirectory, await mending()));
}

/**
 * Moves away the etcd program of an earlier minik8s, which was stored at the path of this version's
 * directory. The program is kept to read its data. The earlier minik8s then cannot start here any more: its
 * etcd would write into the data of this version, and neither etcd could read the data afterwards.
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
    // The connection may still be established after the caller has stopped waiting.
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

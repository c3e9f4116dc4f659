/** The store of a control plane: an embedded etcd that runs as a child process, or an external one. */
import { access, constants } from 'node:fs/promises';
import { unlessAborted } from '../../base/abort.ts';
import { inBackground } from '../../base/in-background.ts';
import type { Logger } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { runCompactor } from '../../storage/compactor.ts';
import { connectEtcd, type EtcdOptions } from '../../storage/etcd.ts';
import { type Store, StoreUnavailableError } from '../../storage/store.ts';
import type { ProcessContext } from '../process-context.ts';
import type { PartSettings, Settings } from '../settings/setting-table.ts';
import { startInsideEtcd } from './inside-etcd.ts';
import { Membership } from './membership.ts';

/**
 * Timeout of the first answer of the embedded etcd in milliseconds. etcd reads its write-ahead log when it
 * starts: a gigabyte or more if objects are large. A restart of the master would only repeat the reading.
 */
const etcdStartMs = 300_000;

export interface StorageOptions extends Omit<ProcessContext, 'loopMeter' | 'log'> {
  readonly log: Logger;
  readonly settings: PartSettings<'control plane'>;
  /** Address at which the other masters reach this one. */
  readonly advertiseAddress: string;
}

export interface OpenedStorage {
  readonly store: Store;
  /** The unix socket of the embedded etcd, accessible to this user only; undefined for an external etcd. */
  readonly etcdSocket: string | undefined;
  /** Membership of the embedded etcd; undefined for an external one. */
  readonly membership: Membership | undefined;
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
  const endpoints = settings['etcd-endpoints'];
  if (endpoints === undefined) return openInside(options, stack, signal);
  if (settings.join !== undefined)
    throw new UsageError('--join is for masters with an embedded etcd: leave out --join or --etcd-endpoints');
  const tls = await etcdTls(settings);
  const connected = connect({ endpoints, ...(tls && { tls }), log, clock, random }, stack, signal);
  const store = await connected.catch((error) => {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // The useful part of the error is the reason of the last call, after the gRPC status.
    const [, why = error.message] = /\d+ [A-Z_]+: (.+)$/.exec(error.message) ?? [];
    const advice = `start it, or correct --etcd-endpoints${tls ? ', --etcd-ca, --etcd-cert and --etcd-key' : ''}`;
    throw new Error(`no etcd answers at ${endpoints.join(', ')} (${why}); ${advice}`);
  });
  return { store, etcdSocket: undefined, membership: undefined };
}

/** Opens the embedded etcd, which serves clients on a socket that no other user can reach. */
async function openInside(
  options: StorageOptions,
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<OpenedStorage> {
  const { log, clock, random } = options;
  const inside = await startInsideEtcd(options, stack, signal);
  const { endpoints, keepaliveMs } = inside.etcd;
  const membership = new Membership(options, inside);
  const trouble = () => membership.trouble();
  const isOnlyWriter = () => !membership.isShared;
  const own = { endpoints, keepaliveMs, trouble, isOnlyWriter, startMs: etcdStartMs };
  const connected = connect({ ...own, log, clock, random }, stack, signal);
  const store = await connected.catch((error) => {
    throw error instanceof StoreUnavailableError && error.trouble ? new Error(error.trouble) : error;
  });
  void inBackground(stack, (until) => membership.run(until));
  return { store, etcdSocket: inside.socket, membership };
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

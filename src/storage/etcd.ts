/**
 * The connection to etcd, and the only importer of etcd3. Of that package only the connection, authentication and
 * RPC layer is used: its watcher loses events on reconnect, and its retry and circuit-breaker policies resend
 * writes and keep failing after the server is back; both are replaced by policies that do nothing.
 */
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  Etcd3,
  EtcdPermissionDeniedError,
  GRPCFailedPreconditionError,
  GRPCInvalidArgumentError,
  GRPCNotImplementedError,
  GRPCOutOfRangeError,
  GRPCResourceExhastedError,
  GRPCUnauthenticatedError,
  type IOptions,
  type IWatchRequest,
  KVClient,
} from 'etcd3';
import { isAddress } from '../base/addresses.ts';
import type { Clock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import { EndpointChoice } from './endpoint-choice.ts';
import { type EtcdRpc, RpcError, type WatchResponse, type WatchStream } from './etcd-rpc.ts';
import { createEtcdStore, type EtcdStoreOptions } from './etcd-store.ts';
import type { Store } from './store.ts';

export interface EtcdOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path`; all of one cluster. */
  readonly endpoints: readonly string[];
  /** Paths of PEM files; needed for https with a private CA or with client certificates. */
  readonly tls?: { readonly ca: string } & (
    | { readonly cert: string; readonly key: string }
    | { readonly cert?: undefined; readonly key?: undefined }
  );
  readonly trouble?: EtcdStoreOptions['trouble'];
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * How often a silent connection is probed, 6000 ms by default; it is given up after half as long without an
   * answer. etcd drops clients that probe more often than its --grpc-keepalive-min-time (5 s unless set).
   */
  readonly keepaliveMs?: number;
  /** How long one call may take; 5000 ms by default. */
  readonly attemptMs?: number;
  /** How long to go on before StoreUnavailableError; 15,000 ms by default. */
  readonly settleMs?: number;
}

type FaultHandling = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/** What etcd3 has no option for: it makes gRPC's credentials without the options to verify by. */
interface PoolInternals {
  readonly hosts: readonly {
    readonly channelCredentials: {
      readonly verifyOptions: { checkServerIdentity?: typeof checkServerIdentity };
    };
  }[];
}

/** What etcd3 returns is a Node stream, though its type does not say so. */
type GrpcStream = Duplex & { cancel(): void };

/** etcd3 keeps its connection pool to subclasses. */
class Connection extends Etcd3 {
  /** Has the servers' certificates checked by `check` in place of gRPC's own rule. */
  checkCertificates(check: typeof checkServerIdentity): void {
    const { hosts } = this.pool as unknown as PoolInternals;
    for (const { channelCredentials } of hosts) channelCredentials.verifyOptions.checkServerIdentity = check;
  }

  override readonly kv = new KVClient(this.pool);

  /** A member that loses its leader ends the stream, rather than saying nothing until it finds one again. */
  openWatch(): Promise<GrpcStream> {
    return this.pool.withConnection('Watch', ({ client, metadata }) => {
      const ours = metadata.clone();
      ours.set('hasleader', 'true');
      return (client as unknown as { watch(metadata: unknown): GrpcStream }).watch(ours);
    });
  }
}

/** Resolves once etcd answers; rejects with StoreUnavailableError after `settleMs`. */
export async function connectEtcd(options: EtcdOptions): Promise<Store> {
  const rpc = await openRpc(options);
  try {
    return await createEtcdStore({
      rpc,
      clock: options.clock,
      random: options.random,
      log: options.log,
      attemptMs: options.attemptMs ?? 5000,
      settleMs: options.settleMs ?? 15_000,
      trouble: options.trouble,
    });
  } catch (error) {
    rpc.close();
    throw error;
  }
}

async function openRpc(options: EtcdOptions): Promise<EtcdRpc> {
  const { tls } = options;
  const keepalive = options.keepaliveMs ?? 6000;
  const secure = options.endpoints.filter((endpoint) => endpoint.startsWith('https:'));
  const hosts = secure.map((endpoint) => new URL(endpoint).hostname.replace(/^\[|\]$/g, ''));
  // gRPC would send an address as the TLS server name, which Node refuses.
  const addressed = hosts.some(isAddress);
  const credentials = tls && (await readCredentials(tls));
  const connections = options.endpoints.map((endpoint) => {
    const connection = new Connection({
      hosts: endpoint,
      ...(credentials && { credentials }),
      faultHandling: { global: passThrough, host: () => passThrough },
      grpcOptions: {
        'grpc.keepalive_time_ms': keepalive,
        'grpc.keepalive_timeout_ms': Math.ceil(keepalive / 2),
        'grpc.max_receive_message_length': 64 << 20,
        'grpc.initial_reconnect_backoff_ms': 50,
        'grpc.max_reconnect_backoff_ms': 1000,
        // No proxy from the environment between a master and its store.
        'grpc.enable_http_proxy': 0,
        ...(addressed ? { 'grpc.ssl_target_name_override': 'etcd' } : {}),
      },
    });
    if (addressed) connection.checkCertificates((_, certificate) => checkAnyHost(hosts, certificate));
    return connection;
  });
  return rpcOver(connections, options);
}

/** Calls go to one endpoint until one there gets no answer; then to the next, and its watches end, to resume there. */
function rpcOver(connections: readonly Connection[], { random, log, endpoints }: EtcdOptions): EtcdRpc {
  const choice = new EndpointChoice(connections.length, random.next());
  const watches = connections.map(() => new Set<WatchStream>());
  const watchesAt = (index: number) => watches[index] as Set<WatchStream>;
  const moveOn = (index: number, error: RpcError) => {
    if (error.failure !== 'unanswered' || !choice.failed(index)) return;
    log.debug('this etcd endpoint does not answer, using another one', {
      endpoint: endpoints[index],
      error: errorMessage(error),
    });
    for (const stream of watchesAt(index)) stream.cancel();
  };
  const call = async <T>(make: (connection: Connection) => Promise<T>): Promise<T> => {
    const index = choice.current;
    try {
      return await make(connections[index] as Connection);
    } catch (cause) {
      const error = toRpcError(cause);
      moveOn(index, error);
      throw error;
    }
  };
  // gRPC wants the wall clock's own deadline.
  const within = (ms: number) => ({ deadline: Date.now() + ms });
  return {
    range: (request, ms) => call(({ kv }) => kv.range(request, within(ms))),
    txn: ({ compare, success, failure }, ms) =>
      call(({ kv }) =>
        kv.txn({ compare: [...compare], success: [...success], failure: [...failure] }, within(ms)),
      ),
    compact: async (revision, ms) => {
      await call(({ kv }) => kv.compact({ revision }, within(ms)));
    },
    version: async (ms) => (await call(({ maintenance }) => maintenance.status(within(ms)))).version,
    async openWatch() {
      const index = choice.current;
      const open = watchesAt(index);
      const stream = toWatchStream(await call((connection) => connection.openWatch()), {
        onFailure: (error) => moveOn(index, error),
        onEnd: () => open.delete(stream),
      });
      open.add(stream);
      return stream;
    },
    close() {
      for (const connection of connections) connection.close();
    },
  };
}

const passThrough: FaultHandling = {
  _altReturn: undefined as never,
  onSuccess: () => ({ dispose() {} }),
  onFailure: () => ({ dispose() {} }),
  execute: async (call) => call({ signal: new AbortController().signal }),
};

/** All endpoints are of one cluster, so a certificate for any of them will do. */
function checkAnyHost(hosts: readonly string[], certificate: PeerCertificate): Error | undefined {
  const errors = hosts.map((host) => checkServerIdentity(host, certificate));
  return errors.includes(undefined) ? undefined : errors[0];
}

async function readCredentials(
  tls: NonNullable<EtcdOptions['tls']>,
): Promise<NonNullable<IOptions['credentials']>> {
  const rootCertificate = await readFile(tls.ca);
  if (tls.cert === undefined) return { rootCertificate };
  return { rootCertificate, certChain: await readFile(tls.cert), privateKey: await readFile(tls.key) };
}

interface StreamEvents {
  /** It broke by itself; not when it was canceled. */
  onFailure(error: RpcError): void;
  onEnd(): void;
}

function toWatchStream(grpc: GrpcStream, events: StreamEvents): WatchStream {
  let canceled = false;
  grpc.on('error', (error) => {
    if (!canceled) events.onFailure(toRpcError(error));
  });
  grpc.on('close', events.onEnd);
  return {
    send: (request) => {
      const message: IWatchRequest = request;
      if (grpc.writable) grpc.write(message);
    },
    responses: readResponses(grpc),
    cancel: () => {
      canceled = true;
      grpc.cancel();
    },
  };
}

async function* readResponses(stream: GrpcStream): AsyncGenerator<WatchResponse> {
  try {
    for await (const response of stream) yield response as WatchResponse;
  } catch (error) {
    throw toRpcError(error);
  }
}

const refusals = [
  EtcdPermissionDeniedError,
  GRPCFailedPreconditionError,
  GRPCInvalidArgumentError,
  GRPCNotImplementedError,
  GRPCOutOfRangeError,
  GRPCResourceExhastedError,
  GRPCUnauthenticatedError,
];

/** What gRPC says of an answer here, and what it says in etcd. That etcd was sent too much is another message. */
const tooLong = /Received message larger than max|trying to send message larger than max/;

function toRpcError(error: unknown): RpcError {
  const message = errorMessage(error);
  if (message.includes('required revision has been compacted')) return new RpcError('compacted', message);
  if (tooLong.test(message)) return new RpcError('too long', message);
  const refused = refusals.some((kind) => error instanceof kind);
  return new RpcError(refused ? 'refused' : 'unanswered', message, { cause: error });
}

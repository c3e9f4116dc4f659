/**
 * The connection to etcd: its API (etcd-rpc.ts) in messages (etcd-messages.ts) over a gRPC connection to each
 * endpoint.
 */
import { readFile } from 'node:fs/promises';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { WireWriter } from '../apimachinery/protobuf/writer.ts';
import { onAbort } from '../base/abort.ts';
import { isAddress } from '../base/addresses.ts';
import type { Clock } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { TlsOptions } from '../grpc/channel.ts';
import { GrpcClient, type GrpcStream } from '../grpc/client.ts';
import { framed } from '../grpc/frames.ts';
import { GrpcError, type StatusName } from '../grpc/status.ts';
import { EndpointChoice } from './endpoint-choice.ts';
import {
  readFullMembers,
  readRange,
  readSnapshotPart,
  readStatus,
  readTxn,
  readWatch,
  sizeOfTxn,
  writeAlarm,
  writeRange,
  writeTxn,
  writeWatch,
} from './etcd-messages.ts';
import { type EtcdRpc, type FullMember, RpcError, type WatchResponse, type WatchStream } from './etcd-rpc.ts';
import { createEtcdStore, type EtcdStoreOptions } from './etcd-store.ts';
import type { Store } from './store.ts';

export interface EtcdOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path`; all of one cluster. */
  readonly endpoints: readonly string[];
  /** Paths of PEM files; required for https with a private CA or with client certificates. */
  readonly tls?: { readonly ca: string } & (
    | { readonly cert: string; readonly key: string }
    | { readonly cert?: undefined; readonly key?: undefined }
  );
  readonly trouble?: EtcdStoreOptions['trouble'];
  readonly isOnlyWriter?: EtcdStoreOptions['isOnlyWriter'];
  readonly log: Logger;
  readonly clock: Clock;
  /** Clock for the timeouts of connections and calls; `clock` by default. */
  readonly networkClock?: Clock;
  readonly random: Random;
  /**
   * Interval of probes on a silent connection, 6000 ms by default; the connection is closed after half as
   * long without an answer. etcd drops clients that probe more often than its --grpc-keepalive-min-time (5 s
   * unless set).
   */
  readonly keepaliveMs?: number;
  /** Timeout of one call; 5000 ms by default. */
  readonly attemptMs?: number;
  /** Time until StoreUnavailableError; 15,000 ms by default. */
  readonly settleMs?: number;
  /** Timeout of the first answer in milliseconds; `settleMs` by default. */
  readonly startMs?: number | undefined;
}

const defaultAttemptMs = 5000;
/** Maximum size of an answer, which is held in memory as a whole. */
const maxMessageBytes = 64 << 20;
/** Estimated size in bytes of a request without a value. */
const shortRequest = 256;

/** Connects to etcd. Resolves once etcd answers; rejects with StoreUnavailableError after `startMs`. */
export async function connectEtcd(options: EtcdOptions): Promise<Store> {
  const rpc = await openRpc(options);
  try {
    return await createEtcdStore({
      rpc,
      clock: options.clock,
      random: options.random,
      log: options.log,
      attemptMs: options.attemptMs ?? defaultAttemptMs,
      settleMs: options.settleMs ?? 15_000,
      startMs: options.startMs,
      trouble: options.trouble,
      isOnlyWriter: options.isOnlyWriter,
    });
  } catch (error) {
    rpc.close();
    throw error;
  }
}

/** Returns the calls to etcd, unchecked. The caller closes the connection. */
export async function openRpc(options: EtcdOptions): Promise<EtcdRpc> {
  const { tls } = options;
  const secure = options.endpoints.filter((endpoint) => endpoint.startsWith('https:'));
  const hosts = secure.map((endpoint) => new URL(endpoint).hostname.replace(/^\[|\]$/g, ''));
  const credentials = tls && (await readCredentials(tls));
  const check = (_: string, certificate: PeerCertificate) => checkAnyHost(hosts, certificate);
  const clients = options.endpoints.map(
    (endpoint) =>
      new GrpcClient({
        endpoint,
        // TLS accepts no address as a server name.
        tls: {
          ...credentials,
          ...(hosts.some(isAddress) && { servername: 'etcd', checkServerIdentity: check }),
        },
        keepaliveMs: options.keepaliveMs ?? 6000,
        connectMs: options.attemptMs ?? defaultAttemptMs,
        clock: options.networkClock ?? options.clock,
        maxMessageBytes,
      }),
  );
  return rpcOver(clients, options);
}

/** Implements the RPCs over the endpoints. */
function rpcOver(clients: readonly GrpcClient[], options: EtcdOptions): EtcdRpc {
  const endpoints = new Endpoints(clients, options);
  return {
    range: async (request, ms) =>
      readRange(await endpoints.call('KV/Range', ms, shortRequest, (writer) => writeRange(writer, request))),
    txn: async (request, ms) =>
      readTxn(await endpoints.call('KV/Txn', ms, sizeOfTxn(request), (writer) => writeTxn(writer, request))),
    compact: async (revision, ms, isPhysical) => {
      await endpoints.call('KV/Compact', ms, shortRequest, (writer) => {
        writer.varint(1, revision);
        if (isPhysical) writer.varint(2, 1);
      });
    },
    version: async (ms) =>
      readStatus(await endpoints.call('Maintenance/Status', ms, shortRequest, writeNothing)).version,
    members: clients.map(memberAt),
    async disarmFull(ms) {
      const alarm = (member?: FullMember) =>
        endpoints.call('Maintenance/Alarm', ms, shortRequest, (writer) => writeAlarm(writer, member));
      for (const member of readFullMembers(await alarm())) await alarm(member);
    },
    openWatch: async () => endpoints.openWatch(),
    close() {
      for (const client of clients) client.close();
    },
  };
}

const writeNothing = () => undefined;

/** Returns the calls that concern one member alone, whichever endpoint is in use. */
function memberAt(client: GrpcClient): EtcdRpc['members'][number] {
  const ask = (method: string, ms: number) =>
    client
      .call(`/etcdserverpb.Maintenance/${method}`, framed(shortRequest, writeNothing), ms)
      .catch((cause) => {
        throw toRpcError(cause);
      });
  return {
    status: async (ms) => readStatus(await ask('Status', ms)),
    defragment: async (ms) => void (await ask('Defragment', ms)),
    snapshot: (signal) => snapshotOf(client, signal),
  };
}

async function* snapshotOf(client: GrpcClient, signal?: AbortSignal): AsyncGenerator<Buffer> {
  let forget: (() => void) | undefined;
  try {
    const events = { onFailure: () => undefined, onEnd: () => undefined };
    const stream = client.stream('/etcdserverpb.Maintenance/Snapshot', {}, events);
    forget = signal && onAbort(signal, () => stream.cancel());
    stream.send(framed(shortRequest, writeNothing));
    stream.endSending();
    for await (const message of stream.messages()) yield readSnapshotPart(message);
  } catch (error) {
    throw toRpcError(error);
  } finally {
    forget?.();
  }
}

/**
 * Calls go to one endpoint until a call gets no answer, then to the next; watches at the failed endpoint end,
 * and resume at the next.
 */
class Endpoints {
  readonly #clients: readonly GrpcClient[];
  readonly #options: EtcdOptions;
  readonly #choice: EndpointChoice;
  /** Open watches by the index of their endpoint. */
  readonly #watches: readonly Set<WatchStream>[];

  constructor(clients: readonly GrpcClient[], options: EtcdOptions) {
    this.#clients = clients;
    this.#options = options;
    this.#choice = new EndpointChoice(clients.length, options.random.next());
    this.#watches = clients.map(() => new Set<WatchStream>());
  }

  /** Calls `KV/Range` or another method with a request of about `size` bytes; rejects with an RpcError. */
  async call(
    method: string,
    timeoutMs: number,
    size: number,
    write: (writer: WireWriter) => void,
  ): Promise<Buffer> {
    const index = this.#choice.current;
    try {
      return await this.#clientAt(index).call(`/etcdserverpb.${method}`, framed(size, write), timeoutMs);
    } catch (cause) {
      throw this.#failed(index, cause);
    }
  }

  /** Throws an RpcError if the endpoint has failed. */
  openWatch(): WatchStream {
    const index = this.#choice.current;
    const open = this.#watchesAt(index);
    try {
      const stream: WatchStream = toWatchStream(
        // A member that loses its leader ends the stream, instead of staying silent until it finds a leader
        // again.
        this.#clientAt(index).stream(
          '/etcdserverpb.Watch/Watch',
          { hasleader: 'true' },
          {
            onFailure: (cause) => this.#failed(index, cause),
            onEnd: () => open.delete(stream),
          },
        ),
      );
      open.add(stream);
      return stream;
    } catch (cause) {
      throw this.#failed(index, cause);
    }
  }

  /** Moves on to the next endpoint if this one did not answer; returns the error. */
  #failed(index: number, cause: unknown): RpcError {
    const error = toRpcError(cause);
    if (error.failure !== 'unanswered' || !this.#choice.failed(index)) return error;
    this.#options.log.debug('this etcd endpoint does not answer, using another one', {
      endpoint: this.#options.endpoints[index],
      error: errorMessage(error),
    });
    for (const stream of this.#watchesAt(index)) stream.cancel();
    return error;
  }

  #clientAt(index: number): GrpcClient {
    return this.#clients[index] as GrpcClient;
  }

  #watchesAt(index: number): Set<WatchStream> {
    return this.#watches[index] as Set<WatchStream>;
  }
}

/** Accepts a certificate for any of the hosts, because all endpoints belong to one cluster. */
function checkAnyHost(hosts: readonly string[], certificate: PeerCertificate): Error | undefined {
  const errors = hosts.map((host) => checkServerIdentity(host, certificate));
  return errors.includes(undefined) ? undefined : errors[0];
}

async function readCredentials(tls: NonNullable<EtcdOptions['tls']>): Promise<TlsOptions> {
  const ca = await readFile(tls.ca);
  if (tls.cert === undefined) return { ca };
  return { ca, cert: await readFile(tls.cert), key: await readFile(tls.key) };
}

function toWatchStream(stream: GrpcStream): WatchStream {
  return {
    send: (request) => stream.send(framed(shortRequest, (writer) => writeWatch(writer, request))),
    responses: readResponses(stream),
    cancel: () => stream.cancel(),
  };
}

async function* readResponses(stream: GrpcStream): AsyncGenerator<WatchResponse> {
  try {
    for await (const message of stream.messages()) yield readWatch(message);
  } catch (error) {
    throw toRpcError(error);
  }
}

/**
 * Statuses with which a server rejects a request; after any other status it is unknown whether something
 * happened.
 */
const refusals: readonly StatusName[] = [
  'INVALID_ARGUMENT',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'UNAUTHENTICATED',
];

/**
 * Messages for an answer that is too long, from this client and from etcd. A request that is too long for
 * etcd has another message.
 */
const tooLong = /Received message larger than max|trying to send message larger than max/;

function toRpcError(error: unknown): RpcError {
  const message = errorMessage(error);
  if (message.includes('required revision has been compacted')) return new RpcError('compacted', message);
  if (tooLong.test(message)) return new RpcError('too long', message);
  const refused = error instanceof GrpcError && refusals.includes(error.status);
  return new RpcError(refused ? 'refused' : 'unanswered', message, { cause: error });
}

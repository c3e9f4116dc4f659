/**
 * The membership of a machine in a cluster: it joins, runs pods and renews its certificates. When its Node is
 * deleted, its pods are stopped and its network rules removed, and the machine waits until the Node is
 * created again.
 */
import { join } from 'node:path';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { unlessAborted } from '../../base/abort.ts';
import { Backoff } from '../../base/backoff.ts';
import { pause } from '../../base/clock.ts';
import { type Replaceable, replaceable } from '../../base/current.ts';
import { keepDoing, retry } from '../../base/keep-doing.ts';
import { errorMessage } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { createClient } from '../../client/rest-client.ts';
import { createInformerFactory } from '../../client/shared-informer.ts';
import type { Transport } from '../../client/transport.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { requestCertificate } from '../../node-bootstrap/certificate-request.ts';
import { joinCluster, type Membership } from '../../node-bootstrap/join.ts';
import { clientOrder, nodeUser, serves, servingOrder } from '../../node-bootstrap/node-certificates.ts';
import { NodeFiles } from '../../node-bootstrap/node-files.ts';
import { keepRenewed } from '../../node-bootstrap/renewal.ts';
import { type ServedAuthorities, watchServedAuthorities } from '../../node-bootstrap/served-authorities.ts';
import type { ServiceManager } from '../../os/service-manager.ts';
import { makeKey } from '../../pki/new-request.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import type { NodeContext } from '../process-context.ts';
import type { NodeSettings } from '../settings/node-config.ts';
import { requireClusterAddresses } from './cluster-addresses.ts';
import { areOutdated, endNode } from './node-traces.ts';
import { nodeTransport } from './node-transport.ts';
import { runWorker } from './worker.ts';
import { workerRuntime } from './worker-options.ts';

export interface MemberOptions extends NodeContext {
  readonly settings: NodeSettings;
  readonly servers: readonly string[];
  readonly nodeName: string;
  readonly nodeIP: string;
  readonly nodeIPv6?: string | undefined;
  readonly warn: (message: string) => void;
  /** Receives a notice once the node is ready, or waits for approval. */
  readonly serviceManager: ServiceManager;
}

/**
 * Milliseconds for which a Node must stay deleted before its pods are removed: a replaced Node is back at
 * once.
 */
const removalMs = 2_000;

/** Interval at which a node reads the authorities of a master of an earlier version, which has no watch. */
const authoritiesMs = 60_000;
/** Milliseconds between the end of a watch of the authorities and the next. */
const watchRestMs = 1_000;
const followBackoff = () => new Backoff({ initialMs: watchRestMs, maxMs: 10_000 });

const say = (message: string) => process.stdout.write(`${message}\n`);

/**
 * Resolves when the signal has aborted and every part has ended; rejects if this machine cannot join or work
 * as a node.
 */
export async function runMember(options: MemberOptions, signal: AbortSignal): Promise<void> {
  const { settings, servers, nodeName, clock, log, serviceManager } = options;
  const files = new NodeFiles(join(settings['data-dir'], 'node'));
  const membership = await joinCluster(
    {
      ...options,
      files,
      token: settings.token,
      hash: settings['ca-cert-hash'],
      connect: (authority, credentials) => nodeTransport({ servers, authority, ...credentials, clock, log }),
      onWaiting: () => {
        const what = `waiting for approval: on a master, run minik8s ctl add node ${nodeName}`;
        say(what);
        void serviceManager.ready(what);
      },
    },
    signal,
  );
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const member = await Member.of(options, files, membership);
  const parts = [member.work(ended), member.followAuthorities(ended), ...member.renewals(ended)];
  try {
    await Promise.all(parts);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stop.abort();
    await Promise.allSettled(parts);
    member.close();
  }
}

class Member {
  readonly #options: MemberOptions;
  readonly #files: NodeFiles;
  readonly #authority: Replaceable<string>;
  /** Authority that signs certificates of nodes; undefined until it has been read from a master. */
  readonly #signer: Replaceable<string | undefined> = replaceable(undefined);
  readonly #identity: Replaceable<KeyAndCertificate>;
  readonly #serving: Replaceable<KeyAndCertificate | undefined>;
  readonly #transport: Transport;
  readonly #client: Client;

  private constructor(
    options: MemberOptions,
    files: NodeFiles,
    { authority, client }: Membership,
    serving: KeyAndCertificate | undefined,
  ) {
    const { servers, clock, random, log } = options;
    this.#options = options;
    this.#files = files;
    this.#authority = replaceable(authority);
    this.#identity = replaceable(client);
    this.#serving = replaceable(serving);
    this.#transport = nodeTransport({
      ...{ servers, identity: this.#identity, clock, log },
      authority: this.#authority,
    });
    this.#client = createClient(this.#transport, { clock, random });
  }

  static async of(options: MemberOptions, files: NodeFiles, membership: Membership): Promise<Member> {
    const { clock, nodeName, nodeIP } = options;
    const stored = await files.pair('serving');
    const usable = stored && serves(stored, membership.authority, [nodeName, nodeIP], clock.now());
    return new Member(options, files, membership, usable ? stored : undefined);
  }

  close(): void {
    this.#transport.close();
  }

  /** Renews the certificates until the signal aborts. */
  renewals(signal: AbortSignal): Promise<void>[] {
    const { nodeName, nodeIP, clock, random, log } = this.#options;
    const order = {
      client: (key: string) => clientOrder(nodeName, key),
      serving: (key: string) => servingOrder(nodeName, [nodeName, nodeIP], key),
    };
    const context = { client: this.#client, clock, random, log };
    const withTrust = () => ({ ...context, authority: this.#authority.value });
    const renew = (name: 'client' | 'serving') => async (until: AbortSignal) => {
      const key = await makeKey();
      const asked = { ...order[name](key), requester: nodeUser(nodeName) };
      const pair = { key, certificate: await requestCertificate(withTrust(), asked, until) };
      await this.#files.writePair(name, pair);
      return pair;
    };
    const timing = { clock, random, log, issuer: this.#signer };
    return [
      keepRenewed(
        { ...timing, identity: this.#identity, renew: renew('client'), what: 'client certificate' },
        signal,
      ),
      keepRenewed(
        { ...timing, identity: this.#serving, renew: renew('serving'), what: 'serving certificate' },
        signal,
      ),
    ];
  }

  /**
   * Trusts the authorities that the masters serve, and requests certificates of the authority that signs.
   * Resolves when the signal aborts.
   */
  async followAuthorities(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const onError = (error: unknown) =>
      log.debug('cannot read the authorities of the cluster', { error: errorMessage(error) });
    await keepDoing({ clock, signal, restMs: authoritiesMs, backoff: followBackoff(), onError }, async () => {
      const isWatched = await watchServedAuthorities(
        this.#transport,
        (served) => this.#trust(served),
        signal,
      );
      return isWatched ? watchRestMs : authoritiesMs;
    });
  }

  async #trust({ trusted, signer }: ServedAuthorities): Promise<void> {
    if (trusted !== this.#authority.value) {
      await this.#files.writeAuthority(trusted);
      this.#authority.replace(trusted);
      this.#options.log.info('the authorities of the cluster have changed');
    }
    if (signer !== this.#signer.value) this.#signer.replace(signer);
  }

  /** Runs until the signal aborts, also across deletions of the Node. */
  async work(signal: AbortSignal): Promise<void> {
    const { settings, clock, log, nodeName } = this.#options;
    await requireClusterAddresses({ client: this.#client, clock, log }, settings);
    const former = { client: this.#client, clock, nodeName, dataDir: settings['data-dir'] };
    if (await areOutdated(former)) await this.#leave(signal);
    while (!signal.aborted) {
      const removed = await this.#workUntilRemoved(signal);
      if (!removed) return;
      await this.#leave(signal);
      if (signal.aborted) return;
      say(
        `node ${nodeName} was deleted from the cluster: its pods are stopped and its network rules removed; ` +
          `to let it in again run minik8s ctl add node ${nodeName} on a master (or, with --node-approval auto there, restart minik8s node here)`,
      );
      await this.#untilBack(signal);
      say(`node ${nodeName} was let in again`);
    }
  }

  async #leave(signal: AbortSignal): Promise<void> {
    const { settings, log, exec, nodeName } = this.#options;
    log.info('the Node of this machine was deleted; stopping its pods', { node: nodeName });
    const runtime = workerRuntime(settings, this.#options);
    const dockerSocket = settings['docker-socket'];
    const traces = { runtime, exec, dataDir: settings['data-dir'], dockerSocket };
    await endNode(traces, this.#options, signal);
  }

  /** Resolves to true if the Node was deleted and stayed deleted, to false if the signal aborted. */
  async #workUntilRemoved(signal: AbortSignal): Promise<boolean> {
    const { settings, nodeName } = this.#options;
    const stop = new AbortController();
    const ended = AbortSignal.any([signal, stop.signal]);
    let removed = false;
    let confirming: Promise<void> | undefined;
    const confirm = async () => {
      removed = await this.#isRemoved(ended);
      if (removed) stop.abort();
    };
    let announced = false;
    const onReady = () => {
      if (announced) return;
      announced = true;
      const what = `node ${nodeName} of ${this.#options.servers.join(', ')}`;
      say(`minik8s is ready: ${what}`);
      void this.#options.serviceManager.ready(what);
      this.#options.log.warnOfUnknownComponents();
    };
    try {
      await runWorker(
        {
          ...this.#options,
          transport: this.#transport,
          authority: this.#authority,
          identity: this.#identity,
          serving: this.#serving,
          listenAddresses: [this.#options.nodeIP],
          onReady,
          onRemoved: () => {
            confirming ??= confirm().finally(() => {
              confirming = undefined;
            });
          },
          ...(settings.labels && { labels: settings.labels }),
          ...(settings.taints && { taints: settings.taints }),
          ...(settings['pod-cidr'] && { podCIDR: settings['pod-cidr'] }),
        },
        ended,
      );
    } finally {
      stop.abort();
      await confirming;
    }
    return removed && !signal.aborted;
  }

  async #isRemoved(signal: AbortSignal): Promise<boolean> {
    const { clock, log, nodeName } = this.#options;
    const backoff = new Backoff({ initialMs: removalMs, maxMs: removalMs });
    const onError = (error: unknown) =>
      log.warn('cannot find out whether the Node of this machine was deleted; trying again', {
        error: errorMessage(error),
      });
    await pause(clock, removalMs, signal);
    const nodes = this.#client.resource(nodeResource);
    const isRemoved = async () => (await ifPresent(nodes.get(nodeName))) === undefined;
    return (await retry({ clock, signal, backoff, onError }, isRemoved)) ?? false;
  }

  /** Resolves when a Node of this name exists again; rejects when the signal aborts. */
  async #untilBack(signal: AbortSignal): Promise<void> {
    const { clock, random, log, nodeName } = this.#options;
    const informers = createInformerFactory({ client: this.#client, clock, random, log });
    const stop = new AbortController();
    const { promise: back, resolve } = Promise.withResolvers<void>();
    const own = { fieldSelector: `metadata.name=${nodeName}` };
    informers.informerFor(nodeResource, own).addEventHandler({ onAdd: () => resolve() });
    const starting = informers.start(AbortSignal.any([signal, stop.signal]));
    starting.catch(() => undefined);
    try {
      await unlessAborted(signal, back);
    } finally {
      stop.abort();
      await informers.stopped();
    }
  }
}

/**
 * Cluster DNS of one node. It answers queries of pods and of the node itself: for the cluster's names from
 * the last state received from the API server, for all others from this machine's own name servers. It
 * continues while no master responds.
 */
import type { FurtherRanges } from '../api/networking/v1/service-cidr.ts';
import { aborted } from '../base/abort.ts';
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { keepDoing, Wake } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Family } from '../base/metrics/exposition.ts';
import type { InformerFactory } from '../client/informer.ts';
import type { Exec } from '../os/exec.ts';
import type { RuleKeeper } from '../os/rule-watch.ts';
import { createClusterZone } from './cluster-zone.ts';
import { DnsCounts } from './dns-counts.ts';
import { removeDnsLink, setUpDnsLink } from './dns-link.ts';
import { type Server, systemExchange } from './exchange.ts';
import { createForwarder } from './forwarder.ts';
import { type Listening, listenDns } from './listeners.ts';
import { createResponder } from './responder.ts';
import { fixedChains } from './rules.ts';
import { upstreamServers } from './upstream-servers.ts';
import type { Zone } from './zone/zone.ts';

export interface ClusterDnsOptions {
  /** Informers that have not been started yet: the server requests those that it reads. */
  readonly informers: InformerFactory;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Returns a DNS message id; see ForwarderOptions. */
  readonly messageId: () => number;
  /** Domain such as `cluster.local`. */
  readonly domain: string;
  /** Address of the Service kube-dns, which pods have in their resolv.conf. */
  readonly address: string;
  /** The networks of Services and pods, such as `10.96.0.0/16`. */
  readonly networks: readonly string[];
  /** Further networks of Services. */
  readonly furtherRanges?: FurtherRanges;
  /** Pattern of the names of pods' links, as nft matches it: `mk8s*`. */
  readonly podLinks: string;
  /** Reports rules that another program has deleted; undefined where they are not watched. */
  readonly rules: RuleKeeper | undefined;
  /** The file that lists this machine's own servers, and servers that are used instead. */
  readonly resolvConf: string;
  readonly upstream: readonly Server[];
  /** Names of any domain that the cluster serves itself; see Zone. */
  readonly hostAddresses: Zone['hostAddresses'];
}

export interface ClusterDns {
  /**
   * Answers until the signal aborts; rejects when it cannot start. Its link and rules stay on the machine.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the metrics of queries and answers, under CoreDNS' names. */
  families(): readonly Family[];
}

/** The same address on every node of every cluster, for clients without settings of the cluster. */
export const nodeLocalAddress = '169.254.20.10';
const dnsPort = 53;
const retry = { initialMs: 100, maxMs: 10_000 };
/** Interval of repairs: reloading a firewall removes the rules without any event. */
const mendMs = 60_000;

/** Returns a wake that is called when the rules have to be written again. */
function wakeOfRules(rules: RuleKeeper | undefined): Wake {
  const wake = new Wake();
  rules?.keep({
    what: 'cluster DNS',
    owns: (chain) => fixedChains.has(chain),
    restore: () => wake.call(),
  });
  return wake;
}

export function createClusterDns(options: ClusterDnsOptions): ClusterDns {
  const { informers, exec, clock, log, domain, address, networks, furtherRanges, random, messageId } =
    options;
  const addresses = [nodeLocalAddress, address];
  const zone = createClusterZone({
    informers,
    domain,
    nameServer: address,
    networks,
    ...(furtherRanges && { furtherRanges }),
    hostAddresses: options.hostAddresses,
  });
  const servers = upstreamServers({
    resolvConf: options.resolvConf,
    given: options.upstream,
    own: addresses,
  });
  const forwarder = createForwarder({ servers, exchange: systemExchange, messageId, clock, log });
  const counts = new DnsCounts(clock);
  const respond = createResponder({ zone, forwarder, random, clock, counts });
  const link = { addresses, podLinks: options.podLinks };
  const mend = wakeOfRules(options.rules);

  async function open(): Promise<Listening> {
    await setUpDnsLink(exec, link);
    return listenDns({ addresses, port: dnsPort, respond, log });
  }

  async function mendNowAndThen(signal: AbortSignal): Promise<void> {
    const onError = (error: unknown) =>
      log.warn('the link or the nft rules of cluster DNS cannot be restored; trying again', {
        error: errorMessage(error),
      });
    await keepDoing({ clock, signal, wake: mend, restMs: mendMs, restsFirst: true, onError }, () =>
      setUpDnsLink(exec, link),
    );
  }

  /** Serves until the signal aborts; throws when a socket fails, for example when its address was removed. */
  async function serve(listening: Listening, signal: AbortSignal): Promise<void> {
    const leave = new AbortController();
    const until = AbortSignal.any([signal, leave.signal]);
    void mendNowAndThen(until);
    try {
      await Promise.race([listening.failed, aborted(signal)]);
    } finally {
      leave.abort();
      await listening.close();
    }
  }

  return {
    families: () => [...counts.families(), ...forwarder.families()],
    async run(signal) {
      let listening: Listening | undefined;
      try {
        listening = await open();
      } catch (error) {
        await removeDnsLink(exec);
        throw error;
      }
      log.info('cluster DNS answers', { addresses: addresses.join(', '), domain });
      const backoff = new Backoff(retry);
      const onError = (error: unknown) =>
        log.error('cluster DNS cannot be started; trying again', { error: errorMessage(error) });
      await keepDoing({ clock, signal, restMs: 0, backoff, onError }, async () => {
        const opened = listening ?? (await open());
        listening = undefined;
        backoff.reset();
        await serve(opened, signal);
      });
    },
  };
}

/**
 * Checks of what a node serves at its own addresses: Ingresses, Gateways, load balancers, and whether other
 * programs interfere. Only the agent has these facts. Pure.
 */
import type { Listener } from '../../os/listeners.ts';
import { type Check, fault, type Observation, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';
import { freeing, holderOf, nameOf } from './ports.ts';

/** A report of the web server about one kind of objects: a condition of the Node. */
export interface WebServerReport {
  /** Type of the condition, such as `IngressServed`. */
  readonly type: string;
  readonly isServed: boolean;
  readonly message: string;
}

/** Port of a load balancer that a process of this machine holds. */
export interface HeldPort {
  readonly protocol: string;
  readonly port: number;
  /** Services that have the port, as `NAMESPACE/NAME`. */
  readonly services: readonly string[];
}

/** Another machine in the local network with an address of a load balancer. */
export interface Rival {
  readonly address: string;
  /** Hardware address of the machine. */
  readonly machine: string;
  /** The Service with the address, as `NAMESPACE/NAME`. */
  readonly service: string;
}

/** Rules of one subject that another program has deleted since the start of the agent. */
export interface DeletedRules {
  readonly what: string;
  readonly count: number;
  /** Time of the last deletion in milliseconds since the epoch. */
  readonly lastAt: number;
}

export interface ServedFacts {
  readonly listeners: readonly Listener[];
  readonly webServer: readonly WebServerReport[];
  readonly heldPorts: readonly HeldPort[];
  /** Rivals that are no nodes of this cluster. */
  readonly rivals: readonly Rival[];
  readonly deletedRules: readonly DeletedRules[];
}

/** Milliseconds for which deleted rules are reported. */
const recentMs = 24 * 3_600_000;

export const servedChecks: readonly Check<ServedFacts, Situation>[] = [
  {
    name: 'web-server',
    find: ({ webServer, listeners }) => webServer.map((report) => ofWebServer(report, listeners)),
  },
  {
    name: 'load-balancer-ports',
    find: ({ heldPorts, listeners }) => heldPorts.map((held) => ofHeldPort(held, listeners)),
  },
  {
    name: 'load-balancer-addresses',
    find: ({ rivals }) =>
      rivals.map(({ address, machine, service }) =>
        fault(
          `another machine (${machine}) has the address ${address} of the Service ${service}`,
          'clients reach one of the two; take the address from that machine, or out of the pool',
          'minik8s ctl edit configmap load-balancer-pool -n kube-system',
        ),
      ),
  },
  {
    name: 'deleted-rules',
    find: ({ deletedRules }, { now }) =>
      deletedRules
        .filter(({ lastAt }) => now - lastAt < recentMs)
        .map(({ what, count, lastAt }) =>
          warning(
            `another program deleted the nft rules of ${what} ${timesOf(count)}, last at ${new Date(lastAt).toISOString()}`,
            'minik8s wrote them again; connections may have failed meanwhile',
            "journalctl --since=-1d | grep -iE 'nft|iptables|firewall'",
          ),
        ),
  },
];

const timesOf = (count: number) => (count === 1 ? 'once' : `${count} times`);

function ofWebServer(
  { type, isServed, message }: WebServerReport,
  listeners: readonly Listener[],
): Observation {
  const found = `${type}: ${message}`;
  const [, port] = /\bport (\d+) of this node is taken/.exec(message) ?? [];
  if (port === undefined && isServed && !/, except: /.test(message)) return ok(found);
  const holder = port === undefined ? undefined : holderOf(listeners, 'tcp', Number(port));
  const held = holder?.process ? `${found} (port ${port} is held by ${nameOf(holder)})` : found;
  const why = 'clients do not reach these routes at this node';
  return fault(held, why, holder ? freeing(holder) : undefined);
}

function ofHeldPort({ protocol, port, services }: HeldPort, listeners: readonly Listener[]): Observation {
  const holder = holderOf(listeners, protocol, port);
  const by = holder?.process ? nameOf(holder) : 'a process of the machine';
  return fault(
    `port ${port}/${protocol} of the Service ${services.join(', ')} is held by ${by}`,
    'the process answers instead of the Service at this node',
    holder ? freeing(holder) : `ss -lnp 'sport = :${port}'`,
  );
}

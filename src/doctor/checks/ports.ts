/** Checks of the ports that minik8s listens on. Pure. */
import { vxlanPort } from '../../network/overlay/render.ts';
import type { Listener } from '../../os/listeners.ts';
import { type Check, fault, note, type Observation, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface PortFacts {
  readonly listeners: readonly Listener[];
  /** True if the overlay's link exists: the kernel then holds its port. */
  readonly hasOverlayLink: boolean;
  /** Ids of containers that are web servers of minik8s. */
  readonly webServers: readonly string[];
}

interface Wanted {
  readonly protocol: Listener['protocol'];
  readonly port: number;
  readonly address: string;
  readonly what: string;
  readonly flag: string;
  /** True if minik8s starts without the port. */
  readonly isOptional?: true;
}

const any = new Set(['0.0.0.0', '*', '[::]', '::']);

function wantedPorts(situation: Situation): readonly Wanted[] {
  const { hasMaster, hasNode, port, kubeletPort, bindAddress, overlay, nodeIP = '0.0.0.0' } = situation;
  const api = { protocol: 'tcp', port, address: bindAddress, what: 'API server', flag: '--port' } as const;
  const agent = { protocol: 'tcp', port: kubeletPort, address: nodeIP } as const;
  const vxlan = { protocol: 'udp', port: vxlanPort, address: '0.0.0.0' } as const;
  return [
    ...(hasMaster ? [api] : []),
    ...(hasNode ? [{ ...agent, what: 'node agent', flag: '--kubelet-port' }] : []),
    ...(hasNode && overlay === 'vxlan' ? [{ ...vxlan, what: 'overlay', flag: '--overlay host-routes' }] : []),
    ...(hasNode ? situation.webPorts.map(ofWeb) : []),
  ];
}

const ofWeb = ({ port, flag }: Situation['webPorts'][number]): Wanted => ({
  ...{ protocol: 'tcp', port, address: '0.0.0.0', flag },
  what: 'Ingresses and Gateways',
  isOptional: true,
});

export const portChecks: readonly Check<PortFacts, Situation>[] = [
  {
    name: 'ports',
    find: (facts, situation) => wantedPorts(situation).map((wanted) => portState(facts, situation, wanted)),
  },
];

function portState(facts: PortFacts, situation: Situation, wanted: Wanted): Observation {
  const name = `port ${wanted.port}/${wanted.protocol} (${wanted.what})`;
  const holders = facts.listeners.filter((one) => conflicts(one, wanted));
  const [other] = holders.filter((one) => !isOwn(one, situation, wanted, facts));
  if (!other) return ok(holders.length > 0 ? `${name} is held by minik8s` : `${name} is free`);
  if (!other.process)
    return note(`${name} is held by a process that is not known`, 'root sees which one', 'ss -lnp');
  const found = `${name} is held by ${nameOf(other)}`;
  if (wanted.isOptional)
    return warning(
      found,
      `this node does not serve them there; ${wanted.flag} takes another port`,
      freeing(other),
    );
  return fault(
    found,
    `minik8s does not start without the port; ${wanted.flag} takes another one`,
    freeing(other),
  );
}

/** Returns the process of a listener, in words. */
export function nameOf({ process }: Listener): string {
  if (!process) return 'a process that is not known';
  const { pid, program, unit, container } = process;
  const home = unit ?? (container && `container ${container.slice(0, 12)}`);
  return `${program}, process ${pid}${home === undefined ? '' : ` of ${home}`}`;
}

/** Returns the command that ends the process of a listener. */
export function freeing({ process, port }: Listener): string {
  if (!process) return `ss -lnp 'sport = :${port}'`;
  if (process.container) return `docker stop ${process.container.slice(0, 12)}`;
  return process.unit ? `systemctl disable --now ${process.unit}` : `kill ${process.pid}`;
}

/** Returns a listener of the port at an address that other machines reach; one with a process comes first. */
export function holderOf(
  listeners: readonly Listener[],
  protocol: string,
  port: number,
): Listener | undefined {
  const all = listeners.filter(
    (one) => one.protocol === protocol && one.port === port && !/^(?:127\.|\[::1\])/.test(one.address),
  );
  return all.find(({ process }) => process !== undefined) ?? all[0];
}

const conflicts = ({ protocol, port, address }: Listener, wanted: Wanted): boolean =>
  protocol === wanted.protocol &&
  port === wanted.port &&
  (any.has(address) || any.has(wanted.address) || address === wanted.address);

function isOwn(
  { process }: Listener,
  { pid }: Situation,
  { port }: Wanted,
  { hasOverlayLink, webServers }: PortFacts,
): boolean {
  if (!process) return port === vxlanPort && hasOverlayLink;
  return process.pid === pid || (process.container !== undefined && webServers.includes(process.container));
}

/** Checks of the ports that minik8s listens on. Pure. */
import { vxlanPort } from '../../network/overlay/render.ts';
import type { Listener } from '../../os/listeners.ts';
import { type Check, fault, note, type Observation, ok } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface PortFacts {
  readonly listeners: readonly Listener[];
  /** True if the overlay's link exists: the kernel then holds its port. */
  readonly hasOverlayLink: boolean;
}

interface Wanted {
  readonly protocol: Listener['protocol'];
  readonly port: number;
  readonly address: string;
  readonly what: string;
  readonly flag: string;
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
  ];
}

export const portChecks: readonly Check<PortFacts, Situation>[] = [
  {
    name: 'ports',
    find: (facts, situation) => wantedPorts(situation).map((wanted) => portState(facts, situation, wanted)),
  },
];

function portState(
  { listeners, hasOverlayLink }: PortFacts,
  situation: Situation,
  wanted: Wanted,
): Observation {
  const name = `port ${wanted.port}/${wanted.protocol} (${wanted.what})`;
  const holders = listeners.filter((one) => conflicts(one, wanted));
  const [other] = holders.filter((one) => !isOwn(one, situation, wanted, hasOverlayLink));
  if (!other) return ok(holders.length > 0 ? `${name} is held by minik8s` : `${name} is free`);
  if (!other.process)
    return note(`${name} is held by a process that is not known`, 'root sees which one', 'ss -lnp');
  const { pid, program, unit } = other.process;
  return fault(
    `${name} is held by ${program}, process ${pid}${unit ? ` of ${unit}` : ''}`,
    `minik8s does not start without the port; ${wanted.flag} takes another one`,
    unit ? `systemctl disable --now ${unit}` : `kill ${pid}`,
  );
}

const conflicts = ({ protocol, port, address }: Listener, wanted: Wanted): boolean =>
  protocol === wanted.protocol &&
  port === wanted.port &&
  (any.has(address) || any.has(wanted.address) || address === wanted.address);

function isOwn({ process }: Listener, { pid }: Situation, wanted: Wanted, hasOverlayLink: boolean): boolean {
  if (process) return process.pid === pid;
  return wanted.port === vxlanPort && hasOverlayLink;
}

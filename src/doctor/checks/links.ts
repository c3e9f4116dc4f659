/** Checks of the links that carry packets of pods. Pure. */
import { podMtu, vxlanOverhead } from '../../network/overlay/plan.ts';
import { type Check, note, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface Link {
  readonly name: string;
  readonly mtu: number;
}

export interface LinkFacts {
  /** The link with the node's address. */
  readonly underlay?: Link;
  readonly overlay?: Link;
  /** Links of pods on this machine's side. */
  readonly pods: readonly Link[];
}

/** Minimum MTU of IPv6, below which many networks fail. */
const minMtu = 1280;
/** MTU of Ethernet. */
const usualMtu = 1500;

export const linkChecks: readonly Check<LinkFacts, Situation>[] = [
  {
    name: 'mtu-underlay',
    find({ underlay }, { nodeIP }) {
      if (!underlay) return [note(`no link of this machine has the node's address ${nodeIP ?? ''}`.trim())];
      const found = `${underlay.name} has MTU ${underlay.mtu}`;
      if (underlay.mtu - vxlanOverhead >= minMtu) return [ok(found)];
      return [
        warning(
          found,
          `packets of pods have room for ${underlay.mtu - vxlanOverhead} bytes only`,
          `ip link set dev ${underlay.name} mtu ${usualMtu}`,
        ),
      ];
    },
  },
  {
    name: 'mtu-overlay',
    find({ underlay, overlay, pods }, { overlay: mode }) {
      if (!underlay || underlay.name === 'lo') return [];
      const most = podMtu(mode, underlay.mtu);
      const wide = [...(overlay ? [overlay] : []), ...pods].filter(({ mtu }) => mtu > most);
      if (wide.length === 0)
        return overlay
          ? [ok(`${overlay.name} has MTU ${overlay.mtu}, ${underlay.name} ${underlay.mtu}`)]
          : [];
      const [first] = wide;
      const largest = Math.max(...wide.map(({ mtu }) => mtu));
      const needed = mode === 'vxlan' ? largest + vxlanOverhead : largest;
      return [
        warning(
          `${first?.name} has MTU ${first?.mtu}, but ${underlay.name} with MTU ${underlay.mtu} carries ${most}`,
          'large packets of pods are cut into pieces or lost',
          `ip link set dev ${underlay.name} mtu ${needed}`,
        ),
      ];
    },
  },
];

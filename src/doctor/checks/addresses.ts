/** Checks of this machine's addresses: the cluster's ranges, and IPv6 in a cluster of two families. Pure. */
import { addressKind } from '../../base/addresses.ts';
import { isOurs, type MachineAddresses, overlap } from '../../network/address-overlap.ts';
import { type Check, fault, note, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

/** Parameters of the kernel for IPv6. */
export interface IPv6Facts {
  /** Value of `net.ipv6.conf.all.forwarding`; absent if the kernel has no IPv6. */
  readonly forwarding?: string;
  /** Links with a default route that a router advertised, and their value of `accept_ra`. */
  readonly advertised: readonly { readonly link: string; readonly acceptRa: string }[];
}

export interface AddressFacts extends MachineAddresses {
  /** Absent in a cluster of IPv4 alone. */
  readonly ipv6?: IPv6Facts;
}

export const addressChecks: readonly Check<AddressFacts, Situation>[] = [
  {
    name: 'ranges',
    find(facts, { hasNode, clusterCIDR, serviceCIDR }) {
      if (!hasNode) return [];
      const ranges = [
        ...clusterCIDR.split(',').map((cidr) => ['cluster-cidr', cidr] as const),
        ...serviceCIDR.split(',').map((cidr) => ['service-cidr', cidr] as const),
      ];
      const why = 'this machine sends packets to pods or Services of these addresses elsewhere';
      const found = overlap(facts, ranges);
      if (found !== undefined) return [fault(found, why)];
      return [ok(`this machine uses no address of ${ranges.map(([, cidr]) => cidr).join(', ')} otherwise`)];
    },
  },
  {
    name: 'ipv6-forwarding',
    find({ ipv6 }, { hasNode, pid, restart }) {
      if (!ipv6 || !hasNode) return [];
      const { forwarding } = ipv6;
      const why = 'no IPv6 packet leaves a pod without forwarding';
      if (forwarding === undefined) return [fault('the kernel has no IPv6', why)];
      const found = `net.ipv6.conf.all.forwarding = ${forwarding}`;
      if (forwarding !== '0') return [ok(found)];
      if (pid === undefined) return [ok(`${found}; minik8s switches it on when it starts`)];
      // The node sets accept_ra first; by sysctl alone the machine could lose its default route.
      return [fault(found, why, restart)];
    },
  },
  {
    name: 'ipv6-router-advertisements',
    find({ ipv6 }, { hasNode }) {
      if (!ipv6 || !hasNode || ipv6.forwarding === '0') return [];
      return ipv6.advertised.map(({ link, acceptRa }) => {
        const found = `the default route of ${link} is from a router, with accept_ra ${acceptRa}`;
        // With 0 another program, such as systemd-networkd, reads the advertisements.
        if (acceptRa !== '1') return ok(found);
        const name = `net.ipv6.conf.${link}.accept_ra`;
        const why = 'a machine that forwards ignores routers with accept_ra 1, so the route ends';
        const mend = `sysctl -w net/ipv6/conf/${link}/accept_ra=2`;
        // Dots separate the parts of a parameter's name.
        if (link.includes('.')) return warning(found, why, mend);
        return warning(found, why, mend, { kind: 'sysctl', name, value: '2' });
      });
    },
  },
  {
    name: 'ipv6-address',
    find({ ipv6, links }, { hasNode }) {
      if (!ipv6 || !hasNode) return [];
      const own = links.flatMap(({ ifname, addr_info }) =>
        addr_info.flatMap(({ local = '' }) =>
          !isOurs(ifname) && local.includes(':') && addressKind(local) === 'unicast'
            ? [`${local} on ${ifname}`]
            : [],
        ),
      );
      const [first] = own;
      if (first !== undefined) return [ok(`this machine has the IPv6 address ${first}`)];
      return [
        note(
          'this machine has no IPv6 address that other machines can reach',
          'node ports are not served over IPv6, and pods reach no other machine by it',
        ),
      ];
    },
  },
];

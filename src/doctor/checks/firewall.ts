/** Checks of firewalls that other programs of this machine set up. Pure. */
import { vxlanPort } from '../../network/overlay/render.ts';
import { type Check, fault, note, type Observation, ok } from '../finding.ts';
import { type ForwardChain, rangesIn } from '../forward-chains.ts';
import type { Situation } from '../situation.ts';

/** A rule of nftables outside the tables of minik8s that drops or rejects packets. */
export interface DroppingRule {
  /** Family and name, such as `inet filter`. */
  readonly table: string;
  readonly chain: string;
  /** Number by which nft deletes the rule. */
  readonly handle: number;
  readonly rule: string;
}

export interface FirewallFacts {
  /** Packets that firewalld permits in the zone of the links; absent if it does not run. */
  readonly firewalld?: { readonly ports: readonly string[]; readonly trusted: readonly string[] };
  /** Output of `ufw status verbose`; absent if ufw is not installed. */
  readonly ufw?: string;
  readonly drops: readonly DroppingRule[];
  /** Chains of other programs that drop forwarded packets by default, as Docker's do. */
  readonly forwards: readonly ForwardChain[];
  /** Tables of minik8s in the kernel, such as `ip minik8s-proxy`. */
  readonly ownTables: readonly string[];
}

/** Returns the ports to which other machines connect, such as `6443/tcp`. */
const neededPorts = ({ hasMaster, hasNode, port, kubeletPort, overlay }: Situation): readonly string[] => [
  ...(hasMaster ? [`${port}/tcp`] : []),
  ...(hasNode ? [`${kubeletPort}/tcp`] : []),
  ...(hasNode && overlay === 'vxlan' ? [`${vxlanPort}/udp`] : []),
];

export const firewallChecks: readonly Check<FirewallFacts, Situation>[] = [
  {
    name: 'firewalld',
    find({ firewalld }, situation) {
      if (!firewalld) return [ok('firewalld does not run')];
      const ports = neededPorts(situation).filter((port) => !opens(firewalld.ports, port));
      const untrusted = rangesOf(situation).filter((range) => !firewalld.trusted.includes(range));
      if (ports.length === 0 && untrusted.length === 0) return [ok('firewalld permits the cluster')];
      const commands = [
        ...ports.map((port) => `firewall-cmd --permanent --add-port=${port}`),
        ...untrusted.map((range) => `firewall-cmd --permanent --zone=trusted --add-source=${range}`),
        'firewall-cmd --reload',
      ];
      return [blocking('firewalld', ports, untrusted, commands.join(' && '))];
    },
  },
  {
    name: 'ufw',
    find({ ufw }, situation) {
      if (ufw === undefined) return [ok('ufw is not installed')];
      if (!/^Status: active$/m.test(ufw)) return [ok('ufw is not active')];
      if (/^Default: allow \(incoming\)/m.test(ufw)) return [ok('ufw permits incoming packets')];
      const ports = neededPorts(situation).filter((port) => !allows(ufw, port));
      const untrusted = rangesOf(situation).filter((range) => !isAllowedFrom(ufw, range));
      if (ports.length === 0 && untrusted.length === 0) return [ok('ufw permits the cluster')];
      const commands = [
        ...ports.map((port) => `ufw allow ${port}`),
        ...untrusted.map((range) => `ufw allow from ${range}`),
      ];
      return [blocking('ufw', ports, untrusted, commands.join(' && '))];
    },
  },
  {
    name: 'forwarding-rules',
    find({ forwards }, { hasNode, pid, clusterCIDR, restart }) {
      if (!hasNode) return [];
      if (forwards.length === 0) return [ok('no chain drops forwarded packets by default')];
      return forwards.map(({ table, chain, acceptsPods }) => {
        const found = `chain ${chain} of ${table} drops forwarded packets by default`;
        if (acceptsPods) return ok(`${found}, and accepts those of pods`);
        // minik8s adds its rule to this chain when the node starts.
        const isAmended = /^ip6? filter$/.test(table) && chain === 'FORWARD';
        if (isAmended && pid === undefined) return ok(`${found}; minik8s lets those of pods pass`);
        const why = 'packets of pods to other nodes, and of clients to pods, do not pass';
        if (isAmended) return fault(`${found}, also those of pods`, why, restart);
        return fault(`${found}, also those of pods`, why, accepting({ table, chain }, clusterCIDR));
      });
    },
  },
  {
    name: 'own-rules',
    find({ ownTables }, { hasNode, pid, clusterCIDR, restart }) {
      if (!hasNode || pid === undefined) return [];
      const IPv4 = ['proxy', 'network', 'dns'].map((name) => `ip minik8s-${name}`);
      // A node of one family in a cluster of two has no table of IPv6 for its pods.
      const expected = rangesOf({ clusterCIDR }).length > 1 ? [...IPv4, 'ip6 minik8s-proxy'] : IPv4;
      const lost = expected.filter((table) => !ownTables.includes(table));
      if (lost.length === 0) return [ok('the nft tables of Services, pods and DNS are in the kernel')];
      return [
        fault(
          `the nft tables ${lost.join(', ')} are missing`,
          'Services, pods or DNS do not work at this node',
          restart,
        ),
      ];
    },
  },
  {
    name: 'dropping-rules',
    find: ({ drops }) =>
      drops.map(({ table, chain, handle, rule }) =>
        note(
          `a rule of table ${table}, chain ${chain} drops packets: ${rule}`,
          'reachability between nodes shows whether it concerns the cluster',
          deletionOf({ table, chain, handle }),
        ),
      ),
  },
];

const rangesOf = ({ clusterCIDR }: Pick<Situation, 'clusterCIDR'>): readonly string[] =>
  clusterCIDR.split(',');

/** Returns the commands that let packets of pods pass a chain. */
function accepting({ table, chain }: Pick<ForwardChain, 'table' | 'chain'>, clusterCIDR: string): string {
  const rules = rangesIn(table, clusterCIDR).flatMap((range) =>
    table === 'iptables-legacy'
      ? ['-s', '-d'].map((way) => `iptables-legacy -I ${chain} ${way} ${range} -j ACCEPT`)
      : ['saddr', 'daddr'].map(
          (way) =>
            `nft insert rule ${table} ${chain} ${range.includes(':') ? 'ip6' : 'ip'} ${way} ${range} accept`,
        ),
  );
  return rules.join(' && ');
}

/** Returns the command that deletes a rule. */
export const deletionOf = ({ table, chain, handle }: Omit<DroppingRule, 'rule'>): string =>
  `nft delete rule ${table} ${chain} handle ${handle}`;

function blocking(
  what: string,
  ports: readonly string[],
  untrusted: readonly string[],
  mend: string,
): Observation {
  const blocked = [
    ...(ports.length > 0 ? [`the ports ${ports.join(', ')}`] : []),
    ...(untrusted.length > 0 ? [`packets of pods (${untrusted.join(', ')})`] : []),
  ];
  return fault(
    `${what} is active and blocks ${blocked.join(' and ')}`,
    'other machines and pods do not reach this one',
    mend,
  );
}

/** Returns true if a list of firewalld's ports, such as `6000-7000/tcp`, contains the port. */
function opens(ports: readonly string[], wanted: string): boolean {
  const [number = '', protocol] = wanted.split('/');
  return ports.some((one) => {
    const [range = '', its] = one.split('/');
    const [first = '', last = first] = range.split('-');
    return its === protocol && Number(first) <= Number(number) && Number(number) <= Number(last);
  });
}

/** Returns true if ufw allows the port. A port without a protocol is open for all protocols. */
function allows(status: string, wanted: string): boolean {
  const [number = ''] = wanted.split('/');
  return new RegExp(`^(?:${number}|${RegExp.escape(wanted)}) +ALLOW IN +Anywhere *$`, 'm').test(status);
}

const isAllowedFrom = (status: string, range: string): boolean =>
  new RegExp(`^Anywhere(?: \\(v6\\))? +ALLOW IN +${RegExp.escape(range)} *$`, 'm').test(status);

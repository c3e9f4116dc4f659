/** Checks of name resolution. Pure. */
import { addressKind } from '../../base/addresses.ts';
import { parseResolvConf } from '../../formats/resolv-conf.ts';
import { type Check, fault, note, ok, warning } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface DnsFacts {
  /** File with the name servers for names outside the cluster. */
  readonly path: string;
  /** Its text; empty if there is none. */
  readonly text: string;
  /** Name servers that gave no answer within the timeout. */
  readonly silent: readonly string[];
  /** Address of a name of the cluster, or the reason why it was not found; absent if it was not requested. */
  readonly clusterName?: { readonly name: string; readonly address?: string; readonly problem?: string };
}

export const dnsChecks: readonly Check<DnsFacts, Situation>[] = [
  {
    name: 'dns-servers',
    find({ path, text, silent }, { clusterDNS }) {
      const { nameservers } = parseResolvConf(text);
      if (nameservers.length === 0)
        return [
          fault(
            `${path} names no server`,
            'neither images nor names outside the cluster are found',
            `printf 'nameserver 9.9.9.9\\n' >>${path}`,
          ),
        ];
      if (nameservers.includes(clusterDNS))
        return [
          fault(
            `${path} names cluster DNS (${clusterDNS})`,
            'cluster DNS then asks itself for names outside the cluster',
            `sed -i '/^nameserver ${clusterDNS}$/d' ${path}`,
          ),
        ];
      return nameservers.map((server) => {
        if (silent.includes(server))
          return warning(
            `name server ${server} of ${path} does not answer`,
            'names outside the cluster are found late or not at all',
            `sed -i '/^nameserver ${server}$/d' ${path}`,
          );
        return addressKind(server) === 'loopback'
          ? note(
              `name server ${server} of ${path} runs on this machine`,
              'pods reach it only through cluster DNS',
            )
          : ok(`name server ${server} answers`);
      });
    },
  },
  {
    name: 'dns-cluster',
    find({ clusterName }, { clusterDNS, restart }) {
      if (!clusterName) return [];
      const { name, address, problem } = clusterName;
      if (address !== undefined) return [ok(`${name} is ${address} at ${clusterDNS}`)];
      return [
        fault(
          `cluster DNS at ${clusterDNS} does not find ${name}: ${problem}`,
          'pods find no Service by its name',
          restart,
        ),
      ];
    },
  },
];

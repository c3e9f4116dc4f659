/** Determines the IPv6 address of this machine that pods and other nodes use to reach it. */
import { addressKind, canonicalAddress } from '../base/addresses.ts';
import type { Logger } from '../base/log.ts';
import { defaultNames } from '../network/rules.ts';
import type { Exec } from '../os/exec.ts';
import { requireOwnAddress } from './preflight.ts';
import type { Settings } from './settings/setting-table.ts';

/** A link in the form of `ip -json address show`, with the fields that are used here. */
export interface AddressedLink {
  readonly ifname: string;
  readonly addr_info: readonly {
    readonly family?: string;
    readonly local?: string;
    readonly temporary?: boolean;
    readonly deprecated?: boolean;
    readonly tentative?: boolean;
    readonly dadfailed?: boolean;
  }[];
}

/**
 * Returns the IPv6 addresses that other machines can reach and that last; first those of the link with the
 * machine's IPv4 address. Temporary addresses (RFC 8981) are changed after a day.
 */
export function lastingIPv6Addresses(links: readonly AddressedLink[], nodeIP: string): readonly string[] {
  const usable = links.filter(({ ifname }) => !isOurs(ifname));
  const hasNodeIP = ({ addr_info }: AddressedLink) => addr_info.some(({ local }) => local === nodeIP);
  const sorted = [...usable.filter(hasNodeIP), ...usable.filter((link) => !hasNodeIP(link))];
  return sorted.flatMap(lastingAddresses);
}

/** Resolves to the lasting IPv6 addresses of this machine. */
export async function readIPv6Addresses(exec: Exec, nodeIP: string): Promise<readonly string[]> {
  const { stdout } = await exec('ip', ['-json', 'address', 'show']);
  return lastingIPv6Addresses(JSON.parse(stdout || '[]') as readonly AddressedLink[], nodeIP);
}

const lastingAddresses = ({ addr_info }: AddressedLink): readonly string[] =>
  addr_info.flatMap(({ local = '', temporary, deprecated, tentative, dadfailed }) => {
    if (temporary || deprecated || tentative || dadfailed || !local.includes(':')) return [];
    return addressKind(local) === 'unicast' ? [canonicalAddress(local) ?? local] : [];
  });

const isOurs = (link: string) => link.startsWith(defaultNames.linkPrefix) || link.startsWith('minik8s.');

/**
 * Resolves to the node's IPv6 address: undefined in a cluster without IPv6, and on a machine without such an
 * address, which is logged. Rejects if the setting names an address that the machine does not have.
 */
export async function nodeIPv6Of(
  settings: Settings<'cluster-cidr' | 'node-ipv6'>,
  { exec, log, nodeIP }: { readonly exec: Exec; readonly log: Logger; readonly nodeIP: string },
): Promise<string | undefined> {
  if (!settings['cluster-cidr'].includes(',')) return undefined;
  const given = settings['node-ipv6'];
  if (given !== undefined) {
    requireOwnAddress(given, 'node-ipv6');
    return given;
  }
  const [found] = await readIPv6Addresses(exec, nodeIP);
  if (found === undefined)
    log.warn(
      'this machine has no IPv6 address for other machines: its pods have addresses of IPv6, but nobody outside reaches them or this node over IPv6; give it an address and restart',
    );
  return found;
}

/** Reads this machine's addresses and routes, and what its kernel does with IPv6. */
import { join } from 'node:path';
import type { MachineAddresses } from '../../network/address-overlap.ts';
import type { AddressFacts, IPv6Facts } from '../checks/addresses.ts';
import type { Sources } from './sources.ts';
import { textOf } from './text-file.ts';

const links = '/proc/sys/net/ipv6/conf';

export async function readAddresses({ exec, situation }: Sources): Promise<AddressFacts> {
  const isDual = situation.clusterCIDR.includes(',');
  const read = async (...words: readonly string[]) =>
    JSON.parse((await exec('ip', ['-json', ...words])).stdout || '[]');
  const routesOf = (family: '-4' | '-6'): Promise<MachineAddresses['routes']> =>
    read(family, 'route', 'show', 'table', 'main');
  const hasIPv6 = isDual && (await parameter('all', 'forwarding')) !== undefined;
  const [four, six] = [await routesOf('-4'), hasIPv6 ? await routesOf('-6') : []];
  return {
    routes: [...four, ...six],
    links: await read('address', 'show'),
    ...(isDual && { ipv6: await ipv6Of(six) }),
  };
}

/** Resolves to what the kernel does with IPv6; `routes` are those of IPv6. */
async function ipv6Of(routes: MachineAddresses['routes']): Promise<IPv6Facts> {
  const forwarding = await parameter('all', 'forwarding');
  const names = routes.flatMap(({ dst, protocol, dev }) =>
    dst === 'default' && protocol === 'ra' && dev !== undefined ? [dev] : [],
  );
  const advertised = await Promise.all(
    [...new Set(names)].map(async (link) => ({ link, acceptRa: (await parameter(link, 'accept_ra')) ?? '' })),
  );
  return { ...(forwarding !== undefined && { forwarding }), advertised };
}

/** Resolves to the value of a parameter of IPv6; to undefined if the kernel or the link does not have it. */
const parameter = async (link: string, name: string): Promise<string | undefined> =>
  (await textOf(join(links, link, name))).trim() || undefined;

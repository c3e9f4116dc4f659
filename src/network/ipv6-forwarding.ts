/** Forwarding of IPv6 packets by this machine. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const links = '/proc/sys/net/ipv6/conf';

/**
 * Switches forwarding on. A machine that forwards ignores router advertisements unless a link has
 * `accept_ra` 2, so a link that has accepted them gets this value first: the machine would otherwise lose its
 * default route. Idempotent.
 */
export async function forwardIPv6(): Promise<void> {
  if ((await readFile(join(links, 'all/forwarding'), 'utf8')).trim() === '1') return;
  for (const link of await readdir(links)) {
    const file = join(links, link, 'accept_ra');
    // A link may disappear meanwhile.
    const value = await readFile(file, 'utf8').catch(() => '');
    if (value.trim() === '1') await writeFile(file, '2').catch(() => undefined);
  }
  await writeFile(join(links, 'all/forwarding'), '1');
}

/** Switches IPv6 on for a link, which new links lack where the machine's default is off. */
export const enableIPv6 = (link: string): Promise<void> => writeFile(join(links, link, 'disable_ipv6'), '0');

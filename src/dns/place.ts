/** The link that carries the server's addresses, and the rules about who reaches them. */
import type { Exec } from '../base/exec.ts';
import { deleteLink } from '../base/link.ts';
import { linkName, type Place, renderAddresses, renderRemoval, renderRules } from './rules.ts';

/** Safe to repeat: what is there stays, what is missing is made. */
export async function takePlace(exec: Exec, place: Place): Promise<void> {
  // Asked of ip, and not of /sys: that may be mounted for another network namespace.
  const { stdout: links } = await exec('ip', ['-json', 'link', 'show']);
  if (
    !(JSON.parse(links) as readonly { readonly ifname: string }[]).some(({ ifname }) => ifname === linkName)
  ) {
    await exec('ip', ['link', 'add', 'name', linkName, 'type', 'bridge']);
  }
  const { stdout } = await exec('ip', ['-json', '-4', 'address', 'show', 'dev', linkName]);
  await exec('ip', ['-batch', '-'], { input: renderAddresses(place.addresses, presentAddresses(stdout)) });
  await exec('nft', ['-f', '-'], { input: renderRules(place) });
}

function presentAddresses(json: string): readonly string[] {
  const links = JSON.parse(json) as readonly { readonly addr_info?: readonly { readonly local: string }[] }[];
  return links.flatMap(({ addr_info = [] }) => addr_info.map(({ local }) => local));
}

/** Removes what takePlace made, of whichever run; fine when there is nothing. */
export async function leavePlace(exec: Exec): Promise<void> {
  await exec('nft', ['-f', '-'], { input: renderRemoval() });
  await deleteLink(exec, linkName);
}

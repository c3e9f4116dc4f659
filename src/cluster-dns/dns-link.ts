/** The link that carries the addresses of cluster DNS, and the nft rules that restrict access to them. */
import type { Exec } from '../os/exec.ts';
import { deleteLink } from '../os/link.ts';
import { type DnsLink, linkName, renderAddresses, renderRemoval, renderRules } from './rules.ts';

/** Creates the link and rules that are missing. Safe to repeat. */
export async function setUpDnsLink(exec: Exec, link: DnsLink): Promise<void> {
  // Read with ip and not from /sys, which may be mounted for another network namespace.
  const { stdout: links } = await exec('ip', ['-json', 'link', 'show']);
  if (
    !(JSON.parse(links) as readonly { readonly ifname: string }[]).some(({ ifname }) => ifname === linkName)
  ) {
    await exec('ip', ['link', 'add', 'name', linkName, 'type', 'bridge']);
  }
  const { stdout } = await exec('ip', ['-json', '-4', 'address', 'show', 'dev', linkName]);
  await exec('ip', ['-batch', '-'], { input: renderAddresses(link.addresses, presentAddresses(stdout)) });
  await exec('nft', ['-f', '-'], { input: renderRules(link) });
}

function presentAddresses(json: string): readonly string[] {
  const links = JSON.parse(json) as readonly { readonly addr_info?: readonly { readonly local: string }[] }[];
  return links.flatMap(({ addr_info = [] }) => addr_info.map(({ local }) => local));
}

/** Removes what setUpDnsLink made, in this run or an earlier one; has no effect when there is nothing. */
export async function removeDnsLink(exec: Exec): Promise<void> {
  await exec('nft', ['-f', '-'], { input: renderRemoval() });
  await deleteLink(exec, linkName);
}

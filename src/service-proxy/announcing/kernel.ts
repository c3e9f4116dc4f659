/**
 * The addresses in the kernel that this node holds. They expire by themselves: answers within seconds after
 * the agent has died, and the addresses on links within a minute.
 */

import { type AddressFamily, addressFamilies, familyOf } from '../../base/address-families.ts';
import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/clock.ts';
import type { Exec } from '../../os/exec.ts';
import { deleteTable } from '../../os/nft-table.ts';
import {
  announcementTables,
  arpTable,
  confirmation,
  endOfSilence,
  type HeldAddress,
  removal,
  rivalsIn,
} from './announcement-rules.ts';
import { heldOn, type KernelLink, linkFor } from './links.ts';
import {
  neighbourConfirmation,
  neighbourRivalsIn,
  neighbourRules,
  neighbourTable,
} from './neighbour-rules.ts';

const addressSeconds = 60;
const refreshMs = 20_000;
/** Milliseconds in which the owner of an address answers a request for it. */
const answerMs = 300;

export interface AnnouncementsOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly nodeIP: string;
  /** IPv6 address of the node; undefined without one. */
  readonly nodeIPv6?: string | undefined;
}

/** The rules of each family, and how an address is put on a link for some seconds. */
const families = {
  IPv4: {
    table: arpTable,
    rules: announcementTables,
    confirmation,
    rivalsIn,
    prefix: 32,
    words: (seconds: string) => ['scope', 'host', 'valid_lft', seconds, 'preferred_lft', seconds],
  },
  IPv6: {
    table: neighbourTable,
    rules: neighbourRules,
    confirmation: neighbourConfirmation,
    rivalsIn: neighbourRivalsIn,
    prefix: 128,
    words: (seconds: string) => ['nodad', 'valid_lft', seconds, 'preferred_lft', '0'],
  },
} as const satisfies Record<AddressFamily, object>;

const familyIn = (address: string): AddressFamily => familyOf(address) ?? 'IPv4';

export class Announcements {
  readonly #options: AnnouncementsOptions;
  /** Links by the addresses that are on them, with the time at which each was last refreshed. */
  readonly #present = new Map<string, { readonly link: string; at: number }>();
  /** Families whose tables are in the kernel; that of IPv6 has a table once it is needed. */
  readonly #tables = new Set<AddressFamily>();

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  /** Resolves if this machine can announce addresses; removes those that an earlier run has left. */
  async prepare(kept: readonly string[]): Promise<void> {
    for (const { address, link } of heldOn(await this.#links())) {
      if (kept.includes(address)) this.#present.set(address, { link, at: Number.NEGATIVE_INFINITY });
      else await this.#remove(address, link);
    }
    await deleteTable(this.#options.exec, neighbourTable);
    await this.#requireTables('IPv4');
  }

  /** Returns the link for an address; rejects if there is none. */
  async linkOf(address: string): Promise<string> {
    const { nodeIP, nodeIPv6 } = this.#options;
    const own = familyIn(address) === 'IPv4' ? nodeIP : nodeIPv6;
    const link = linkFor(address, own, await this.#links());
    if (link === undefined)
      throw new Error(
        `no link of this machine ${own === undefined ? `is in the network of ${address}` : `has the address ${own}`}`,
      );
    return link;
  }

  /** Resolves to the hardware address of a machine that answers for the address; undefined if none does. */
  async ownerOf(address: string, link: string): Promise<string | undefined> {
    const { exec, clock } = this.#options;
    // An entry of an earlier announcement would wait a second before its next request.
    await exec('ip', ['neigh', 'flush', 'to', address, 'dev', link]);
    await exec('ip', ['neigh', 'replace', address, 'dev', link, 'use']);
    await pause(clock, answerMs, new AbortController().signal);
    const { stdout } = await exec('ip', ['-json', 'neigh', 'show', address, 'dev', link]);
    const found = JSON.parse(stdout || '[]') as { lladdr?: string; state?: string[] }[];
    return found.find(({ state = [] }) => !state.includes('FAILED') && !state.includes('INCOMPLETE'))?.lladdr;
  }

  /** Answers for exactly these addresses from now on, for `confirmMs` milliseconds. */
  async confirm(held: readonly HeldAddress[], confirmMs: number): Promise<void> {
    const failed: unknown[] = [];
    for (const family of addressFamilies)
      await this.#confirmFamily(family, held, confirmMs).catch((error) => failed.push(error));
    await this.#place(held.filter(({ address }) => this.#tables.has(familyIn(address))));
    // A family whose rules the kernel rejects keeps the addresses of the other one from nothing.
    if (failed.length > 0) throw failed[0];
  }

  async #confirmFamily(
    family: AddressFamily,
    held: readonly HeldAddress[],
    confirmMs: number,
  ): Promise<void> {
    const addresses = held.map(({ address }) => address).filter((address) => familyIn(address) === family);
    if (family === 'IPv6' && addresses.length === 0 && !this.#tables.has(family)) return;
    await this.#requireTables(family);
    try {
      const input = families[family].confirmation(addresses, confirmMs);
      await this.#options.exec('nft', ['-f', '-'], { input });
    } catch (error) {
      this.#tables.delete(family);
      throw error;
    }
  }

  /** Announces the address in the local network: the kernel sends three requests in 2 s. */
  async announce({ address, link }: HeldAddress): Promise<void> {
    const { exec } = this.#options;
    await exec('nft', ['-f', '-'], { input: endOfSilence(families[familyIn(address)].table) });
    await exec('ip', ['neigh', 'flush', 'to', address, 'dev', link]);
    await exec('ip', ['neigh', 'replace', address, 'dev', link, 'use']);
  }

  /** Resolves to other machines that have used a held address as their own within the last ten minutes. */
  async rivals(): Promise<ReturnType<typeof rivalsIn>> {
    const found: { readonly address: string; readonly machine: string }[] = [];
    for (const family of this.#tables) {
      const { table, rivalsIn: read } = families[family];
      found.push(
        ...read((await this.#options.exec('nft', ['list', 'set', ...table.split(' '), 'rivals'])).stdout),
      );
    }
    return found;
  }

  /** Lets the next confirmation write the tables again. */
  doubtTables(): void {
    this.#tables.clear();
  }

  async #requireTables(family: AddressFamily): Promise<void> {
    if (this.#tables.has(family)) return;
    await this.#options.exec('nft', ['-f', '-'], { input: families[family].rules() });
    this.#tables.add(family);
  }

  /** Puts addresses on their links, and removes others. */
  async #place(held: readonly HeldAddress[]): Promise<void> {
    const { exec, clock } = this.#options;
    const now = clock.now();
    const due = held.filter(
      ({ address }) => !(now - (this.#present.get(address)?.at ?? Number.NEGATIVE_INFINITY) < refreshMs),
    );
    for (const { address, link } of due) {
      const { words } = families[familyIn(address)];
      const own = words(String(addressSeconds));
      await exec('ip', ['address', 'replace', withPrefix(address), 'dev', link, ...own]);
      this.#present.set(address, { link, at: now });
    }
    for (const [address, { link }] of [...this.#present]) {
      if (!held.some((one) => one.address === address)) await this.#remove(address, link);
    }
  }

  async #remove(address: string, link: string): Promise<void> {
    const { exec } = this.#options;
    this.#present.delete(address);
    try {
      await exec('ip', ['address', 'delete', withPrefix(address), 'dev', link]);
    } catch (error) {
      // The address may have expired.
      if (heldOn(await this.#links()).some((one) => one.address === address)) throw error;
    }
  }

  async #links(): Promise<readonly KernelLink[]> {
    const { stdout } = await this.#options.exec('ip', ['-json', 'address', 'show']);
    return JSON.parse(stdout || '[]') as KernelLink[];
  }
}

const withPrefix = (address: string) => `${address}/${families[familyIn(address)].prefix}`;

/** Removes what the announcements created in the kernel. */
export async function removeAnnouncements(exec: Exec): Promise<void> {
  const { stdout } = await exec('ip', ['-json', 'address', 'show']);
  for (const { address, link } of heldOn(JSON.parse(stdout || '[]') as KernelLink[]))
    await exec('ip', ['address', 'delete', withPrefix(address), 'dev', link]);
  const tables = await exec('nft', ['list', 'tables']);
  const input = removal(tables.stdout);
  // A kernel without a table's family would refuse even the removal.
  if (input) await exec('nft', ['-f', '-'], { input });
}

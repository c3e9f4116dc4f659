/**
 * The addresses in the kernel that this node holds. They expire by themselves: answers within seconds after
 * the agent has died, and the addresses on links within a minute.
 */
import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/clock.ts';
import type { Exec } from '../../os/exec.ts';
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

const addressSeconds = 60;
const refreshMs = 20_000;
/** Milliseconds in which the owner of an address answers a request for it. */
const answerMs = 300;

export interface AnnouncementsOptions {
  readonly exec: Exec;
  readonly clock: Clock;
  readonly nodeIP: string;
}

export class Announcements {
  readonly #options: AnnouncementsOptions;
  /** Links by the addresses that are on them, with the time at which each was last refreshed. */
  readonly #present = new Map<string, { readonly link: string; at: number }>();
  #hasTables = false;

  constructor(options: AnnouncementsOptions) {
    this.#options = options;
  }

  /** Resolves if this machine can announce addresses; removes those that an earlier run has left. */
  async prepare(kept: readonly string[]): Promise<void> {
    for (const { address, link } of heldOn(await this.#links())) {
      if (kept.includes(address)) this.#present.set(address, { link, at: Number.NEGATIVE_INFINITY });
      else await this.#remove(address, link);
    }
    await this.#makeTables();
  }

  /** Returns the link for an address; rejects if there is none. */
  async linkOf(address: string): Promise<string> {
    const { nodeIP } = this.#options;
    const link = linkFor(address, nodeIP, await this.#links());
    if (link === undefined) throw new Error(`no link of this machine has the address ${nodeIP}`);
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
    const { exec } = this.#options;
    if (!this.#hasTables) await this.#makeTables();
    try {
      const addresses = held.map(({ address }) => address);
      await exec('nft', ['-f', '-'], { input: confirmation(addresses, confirmMs) });
    } catch (error) {
      this.#hasTables = false;
      throw error;
    }
    await this.#place(held);
  }

  /** Announces the address in the local network: the kernel sends three requests in 2 s. */
  async announce({ address, link }: HeldAddress): Promise<void> {
    const { exec } = this.#options;
    await exec('nft', ['-f', '-'], { input: endOfSilence() });
    await exec('ip', ['neigh', 'flush', 'to', address, 'dev', link]);
    await exec('ip', ['neigh', 'replace', address, 'dev', link, 'use']);
  }

  /** Resolves to other machines that have used a held address as their own within the last ten minutes. */
  async rivals(): Promise<ReturnType<typeof rivalsIn>> {
    if (!this.#hasTables) return [];
    return rivalsIn(
      (await this.#options.exec('nft', ['list', 'set', ...arpTable.split(' '), 'rivals'])).stdout,
    );
  }

  /** Lets the next confirmation write the tables again. */
  doubtTables(): void {
    this.#hasTables = false;
  }

  async #makeTables(): Promise<void> {
    await this.#options.exec('nft', ['-f', '-'], { input: announcementTables() });
    this.#hasTables = true;
  }

  /** Puts addresses on their links, and removes others. */
  async #place(held: readonly HeldAddress[]): Promise<void> {
    const { exec, clock } = this.#options;
    const now = clock.now();
    const due = held.filter(
      ({ address }) => !(now - (this.#present.get(address)?.at ?? Number.NEGATIVE_INFINITY) < refreshMs),
    );
    for (const { address, link } of due) {
      const lifetime = ['valid_lft', String(addressSeconds), 'preferred_lft', String(addressSeconds)];
      await exec('ip', ['address', 'replace', `${address}/32`, 'dev', link, 'scope', 'host', ...lifetime]);
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
      await exec('ip', ['address', 'delete', `${address}/32`, 'dev', link]);
    } catch (error) {
      // The address may have expired.
      if (heldOn(await this.#links()).some((one) => one.address === address)) throw error;
    }
  }

  async #links(): Promise<readonly KernelLink[]> {
    const { stdout } = await this.#options.exec('ip', ['-json', '-4', 'address', 'show']);
    return JSON.parse(stdout || '[]') as KernelLink[];
  }
}

/** Removes what the announcements created in the kernel. */
export async function removeAnnouncements(exec: Exec): Promise<void> {
  const { stdout } = await exec('ip', ['-json', '-4', 'address', 'show']);
  for (const { address, link } of heldOn(JSON.parse(stdout || '[]') as KernelLink[]))
    await exec('ip', ['address', 'delete', `${address}/32`, 'dev', link]);
  const tables = await exec('nft', ['list', 'tables']);
  const input = removal(tables.stdout);
  // A kernel without the ARP family would refuse even the removal.
  if (input) await exec('nft', ['-f', '-'], { input });
}

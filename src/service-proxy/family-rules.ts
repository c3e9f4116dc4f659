/**
 * The service rules of one family in the kernel: the elements that its table should hold, and transactions
 * that bring the kernel there. The kernel is never listed: after a failed transaction the whole table is
 * written again.
 */
import type { AddressFamily } from '../base/address-families.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { deleteFlows } from '../os/conntrack.ts';
import type { Exec } from '../os/exec.ts';
import type { RuleKeeper } from '../os/rule-watch.ts';
import { ElementTable } from './element-table.ts';
import { chainsOf, fixedChainsOf, renderDifference, renderTable, tableOf } from './render.ts';
import { staleFlows } from './stale-flows.ts';
import { readStickyClients, type StickyClients } from './sticky-clients.ts';

export interface FamilyRulesOptions {
  readonly family: AddressFamily;
  /** Traffic to an address of this range that belongs to no service is rejected at once. */
  readonly serviceCIDR: string;
  /** Returns further ranges of this family. */
  readonly furtherRanges?: () => readonly string[];
  readonly exec: Exec;
  readonly log: Logger;
}

/** Number of chains that may be added before the whole table is written again without unused ones. */
const maxUnusedChains = 500;

export class FamilyRules {
  readonly elements = new ElementTable();
  readonly #options: FamilyRulesOptions;
  /** Number of chains above which the whole table is written again. */
  #chainLimit = maxUnusedChains;
  /** The chains in the kernel; undefined if the whole table must be written. */
  #chains: ReadonlySet<string> | undefined;

  /** The ranges in the kernel's table. */
  #ranges: string | undefined;

  constructor(options: FamilyRulesOptions) {
    this.#options = options;
  }

  get family(): AddressFamily {
    return this.#options.family;
  }

  /** Lets `restore` be called when another program has deleted the rules, unless they are due anyway. */
  watch(rules: RuleKeeper | undefined, restore: () => void): void {
    const fixed = fixedChainsOf(this.family);
    rules?.keep({
      what: 'Services',
      owns: (chain) => this.#chains !== undefined && fixed.has(chain),
      restore: () => {
        if (this.#chains === undefined) return;
        this.#chains = undefined;
        restore();
      },
    });
  }

  /** Brings the kernel to `elements`. After a rejection, the next call writes the whole table. */
  async apply(): Promise<void> {
    try {
      await this.#write();
    } catch (error) {
      this.#chains = undefined;
      throw error;
    }
  }

  async #write(): Promise<void> {
    const { exec, log, serviceCIDR, furtherRanges, family } = this.#options;
    const ranges = [serviceCIDR, ...(furtherRanges?.() ?? [])].join(',');
    if (ranges !== this.#ranges) this.#chains = undefined;
    const chains = this.#chains;
    const difference = this.elements.difference();
    const added = chains ? difference.added : this.elements.all();
    const script = chains
      ? renderDifference(chains, difference, family)
      : renderTable(ranges, added, await this.#stickyClients(), family);
    if (script) await exec('nft', ['-f', '-'], { input: script });
    this.#ranges = ranges;
    this.#chains = new Set([...(chains ?? []), ...chainsOf(added)]);
    this.elements.commit();
    this.#limitChains(chains === undefined);
    await deleteFlows(exec, log, 'a removed endpoint', staleFlows(difference, family));
  }

  /**
   * Lets the next call write the whole table when the kernel holds many chains that nothing jumps to any
   * more: each timeout of session affinity has chains of its own.
   */
  #limitChains(isWhole: boolean): void {
    const chains = this.#chains?.size ?? 0;
    if (isWhole) this.#chainLimit = chains + maxUnusedChains;
    else if (chains > this.#chainLimit) this.#chains = undefined;
  }

  #stickyClients(): Promise<StickyClients> {
    const { exec, log, family } = this.#options;
    return readStickyClients(exec, tableOf(family), (error) =>
      log.warn('the clients of Services with session affinity were not read; they may get other endpoints', {
        error: errorMessage(error),
      }),
    );
  }
}

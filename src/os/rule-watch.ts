/**
 * Restores nftables rules that another program has deleted, such as a firewall that is reloaded: each part of
 * a node registers the chains of its own, and writes them again when they have lost their rules.
 */
import { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { type Failure, keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { monitorRules } from './nft-monitor.ts';

/** Rules of one part of the node. */
export interface KeptRules {
  /** Subject of the rules in the report, such as `Services`; undefined for rules that are not reported. */
  readonly what: string | undefined;
  /**
   * Returns true for a chain of this part that is in use, such as `ip minik8s-proxy dispatch`. The part
   * itself must never delete its rules without writing them again in the same transaction.
   */
  readonly owns: (chain: string) => boolean;
  /** Writes all rules again. Called also when deletions may have been missed. */
  readonly restore: () => void;
}

/** Register of the rules of all parts. */
export interface RuleKeeper {
  keep(rules: KeptRules): void;
}

export interface RuleWatchOptions {
  readonly monitor: typeof monitorRules;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with the subject of rules that another program has deleted, and a sentence about it. */
  readonly onDeleted: (what: string, message: string) => void;
}

/** Deletions of the rules of one subject. */
export interface Deletions {
  readonly what: string;
  readonly count: number;
  /** Time of the last deletion in milliseconds since the epoch. */
  readonly lastAt: number;
}

const retry = { initialMs: 1_000, maxMs: 60_000 };
/** Delay in milliseconds of a restoration that is not reported. */
const laterMs = 300;

export class RuleWatch implements RuleKeeper {
  readonly #options: RuleWatchOptions;
  readonly #kept: KeptRules[] = [];
  readonly #deletions = new Map<string, Deletions>();
  /** Restorations that are scheduled. */
  readonly #later = new Set<() => void>();

  constructor(options: RuleWatchOptions) {
    this.#options = options;
  }

  keep(rules: KeptRules): void {
    this.#kept.push(rules);
  }

  /** Returns the deletions that were reported. */
  deletions(): readonly Deletions[] {
    return [...this.#deletions.values()];
  }

  /** Watches the kernel until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { monitor, clock, log } = this.#options;
    // Deletions may have been missed while no monitor ran.
    const onReady = () => {
      for (const { restore } of this.#kept) restore();
    };
    const onEmptied = (chains: readonly string[]) => this.#emptied(chains);
    const onError = (error: unknown, { retryMs, isNew }: Failure) => {
      if (isNew)
        log.warn('changes of nft rules are not watched', { error: errorMessage(error), inMs: retryMs });
    };
    await keepDoing({ clock, signal, backoff: new Backoff(retry), onError }, () =>
      monitor({ clock, onReady, onEmptied }, signal),
    );
  }

  #emptied(chains: readonly string[]): void {
    const { log, clock, onDeleted } = this.#options;
    for (const { what, owns, restore } of this.#kept) {
      const lost = chains.filter(owns);
      if (lost.length === 0) continue;
      if (what === undefined) {
        this.#restoreLater(restore);
        continue;
      }
      const message = `Another program deleted the nft rules of ${what}; they are written again`;
      log.warn(message, { chains: lost.join(', ') });
      const count = (this.#deletions.get(what)?.count ?? 0) + 1;
      this.#deletions.set(what, { what, count, lastAt: clock.now() });
      onDeleted(what, message);
      restore();
    }
  }

  /**
   * Restores rules that are not reported. The rest of a large deletion may arrive later: written at once, the
   * other rules of the part would seem to have been replaced, and their deletion would not be reported.
   */
  #restoreLater(restore: () => void): void {
    if (this.#later.has(restore)) return;
    this.#later.add(restore);
    this.#options.clock.after(laterMs, () => {
      this.#later.delete(restore);
      restore();
    });
  }
}

/** Reports which chains of nftables lost their rules, by the events of the kernel. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onAbort } from '../base/abort.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { killGroup } from './exec.ts';

/** A chain whose rules were deleted: `ip minik8s-proxy dispatch`. */
export type EmptiedChain = string;

/** Time after the last event of a transaction, in milliseconds: the monitor does not report its end. */
const settleMs = 100;

/**
 * Reads the output of `nft monitor rules`. Rules that were deleted and written again at once do not count.
 */
export class MonitorReader {
  readonly #deleted = new Set<EmptiedChain>();

  take(line: string): void {
    const [, verb, chain] = /^(add|delete|insert|replace) rule (\S+ \S+ \S+)/.exec(line) ?? [];
    if (chain === undefined) return;
    if (verb === 'delete') this.#deleted.add(chain);
    else this.#deleted.delete(chain);
  }

  /** Returns the chains that have lost rules since the last call. */
  emptied(): readonly EmptiedChain[] {
    const emptied = [...this.#deleted];
    this.#deleted.clear();
    return emptied;
  }
}

export interface MonitorOptions {
  readonly clock: Clock;
  onReady(): void;
  onEmptied(chains: readonly EmptiedChain[]): void;
}

/**
 * Calls `onEmptied` until the signal aborts, then resolves. Rejects when the monitor ends earlier: changes
 * may have been missed then. `onReady` is called once the monitor has started.
 */
export async function monitorRules(
  { clock, onReady, onEmptied }: MonitorOptions,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const child = spawn('nft', ['monitor', 'rules'], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = endOf(child);
  const forget = onAbort(signal, () => killGroup(child));
  const reader = new MonitorReader();
  let timer: Timer | undefined;
  const settled = () => {
    const chains = reader.emptied();
    if (chains.length > 0) onEmptied(chains);
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    reader.take(line);
    timer?.cancel();
    timer = clock.after(settleMs, settled);
  });
  child.once('spawn', onReady);
  try {
    const how = await ended;
    if (!signal.aborted) throw new Error(`nft monitor ended: ${how}`);
  } finally {
    timer?.cancel();
    forget();
  }
}

async function endOf(child: ChildProcess): Promise<string> {
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors = `${errors}${text}`.slice(-1000);
  });
  try {
    const [code, killedBy] = await once(child, 'close');
    return errors.trim().split('\n', 1)[0] || `status ${code ?? killedBy}`;
  } catch (error) {
    return (error as Error).message;
  }
}

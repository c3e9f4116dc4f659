/** Reports which chains of nftables lost their rules, by the events of the kernel. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onAbort } from '../base/abort.ts';
import { killGroup } from './exec.ts';

/** A chain whose rules were deleted: `ip minik8s-proxy dispatch`. */
export type EmptiedChain = string;

/**
 * Reads the output of `nft monitor rules`. Returns the chains that a transaction left without a rule that it
 * had: rules that were deleted and written again in one transaction do not count.
 */
export class MonitorReader {
  readonly #deleted = new Set<EmptiedChain>();

  /** Takes a line; returns the chains that have lost rules once the line ends a transaction. */
  take(line: string): readonly EmptiedChain[] {
    const [, verb, chain] = /^(add|delete|insert|replace) rule (\S+ \S+ \S+)/.exec(line) ?? [];
    if (chain !== undefined) {
      if (verb === 'delete') this.#deleted.add(chain);
      else this.#deleted.delete(chain);
      return [];
    }
    if (!line.startsWith('# new generation')) return [];
    const emptied = [...this.#deleted];
    this.#deleted.clear();
    return emptied;
  }
}

/**
 * Calls `onEmptied` until the signal aborts, then resolves. Rejects when the monitor ends earlier: changes
 * may have been missed then. `onReady` is called once no later change is missed.
 */
export async function monitorRules(
  { onReady, onEmptied }: { onReady(): void; onEmptied(chains: readonly EmptiedChain[]): void },
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const child = spawn('nft', ['monitor', 'rules'], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = endOf(child);
  const forget = onAbort(signal, () => killGroup(child));
  const reader = new MonitorReader();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const chains = reader.take(line);
    if (chains.length > 0) onEmptied(chains);
  });
  child.once('spawn', onReady);
  try {
    const how = await ended;
    if (!signal.aborted) throw new Error(`nft monitor ended: ${how}`);
  } finally {
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

/**
 * Connections that clients open while this process is replaced by another one. From the stop of a listener
 * until the next start listens, the kernel drops the first packet of each connection instead of rejecting it.
 * Clients then send it again after one second, and later: they connect late, and no request fails. The kernel
 * ends this by itself after a while, so a master that is not started again rejects connections as usual.
 */
import { errorMessage, type Logger } from '../../base/log.ts';
import { type Exec, ExecError } from '../../os/exec.ts';

/** Table of the rule. A control plane that starts removes it. */
const heldPortsTable = 'ip minik8s-restart';

/** Text for nft(8) that removes the table, whether it exists or not. */
const removalOfHeldPorts = `add table ${heldPortsTable}\ndelete table ${heldPortsTable}\n`;

/** Renders the table: packets that open connections to the ports of this machine are dropped for a while. */
export function renderHeldPorts(ports: readonly number[], seconds: number): string {
  const elements = ports.map((port) => `${port} timeout ${seconds}s`).join(', ');
  return `${removalOfHeldPorts}table ${heldPortsTable} {
  set ports { type inet_service; flags timeout; elements = { ${elements} }; }
  chain input {
    type filter hook input priority filter - 10;
    tcp dport @ports tcp flags & (syn | ack) == syn drop
  }
}
`;
}

/** Removes the table on a machine where no control plane runs; does nothing without nft. */
export async function removeHeldPorts(exec: Exec): Promise<void> {
  await exec('nft', ['-f', '-'], { input: removalOfHeldPorts }).catch((error) => {
    if (!(error instanceof ExecError)) throw error;
  });
}

export interface HeldPortsOptions {
  readonly exec: Exec;
  readonly log: Logger;
  /** Milliseconds after which the kernel rejects connections again; 0: they are never held. */
  readonly holdMs: number;
}

export class HeldPorts {
  readonly #options: HeldPortsOptions;
  readonly #open = new Set<number>();
  #held: Promise<void> | undefined;

  constructor(options: HeldPortsOptions) {
    this.#options = options;
  }

  /** Must be called for each port that this process listens on. */
  opened(port: number): void {
    this.#open.add(port);
  }

  closed(port: number): void {
    if (this.#held === undefined) this.#open.delete(port);
  }

  /** Removes the table that an earlier process has made. Never rejects. */
  async release(): Promise<void> {
    await this.#run(removalOfHeldPorts);
  }

  /** Resolves when new connections to all open ports wait. Never rejects; later calls do nothing. */
  hold(): Promise<void> {
    this.#held ??= this.#run(renderHeldPorts([...this.#open], Math.ceil(this.#options.holdMs / 1000)));
    return this.#held;
  }

  async #run(input: string): Promise<void> {
    const { exec, log, holdMs } = this.#options;
    if (holdMs === 0) return;
    try {
      await exec('nft', ['-f', '-'], { input, timeoutMs: nftTimeoutMs });
    } catch (error) {
      // Holding connections is optional, since a control plane may run without root and nft: then they are
      // rejected.
      if (!(error instanceof ExecError)) throw error;
      log.debug('connections are refused during a restart', { error: errorMessage(error) });
    }
  }
}

/** Timeout of nft: a stop must not wait longer for the rule. */
const nftTimeoutMs = 5_000;

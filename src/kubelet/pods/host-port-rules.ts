/** Keeps the rules of this machine's host ports in step with the addresses of the pods that request them. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { PodNetwork } from '../runtime/pod-network.ts';
import { hostPortsOf, type WantedPort, wantedPortsOf } from './plan/host-ports.ts';

export interface HostPortRulesOptions {
  readonly network: Pick<PodNetwork, 'setHostPorts'>;
  readonly log: Logger;
  /** Returns the pods of this node, each with its newest status. */
  readonly pods: () => readonly Pod[];
  /**
   * Rejects with a message of one line when a program on this machine listens on the port. Absent: not
   * checked.
   */
  readonly requireFreePort?: ((port: WantedPort) => Promise<void>) | undefined;
}

export class HostPortRules {
  readonly #options: HostPortRulesOptions;
  #rules = '';
  /** Resolves when the newest rules are in force. */
  #setting: Promise<void> = Promise.resolve();

  constructor(options: HostPortRulesOptions) {
    this.#options = options;
  }

  /**
   * Rejects for a port on which a program of this machine listens: a rule would silently divert the port's
   * traffic from that program.
   */
  async requireFree(pod: Pod): Promise<void> {
    for (const port of wantedPortsOf(pod)) await this.#options.requireFreePort?.(port);
  }

  /** Sets the rules. A failure is logged, and retried with the next call. */
  sync(): void {
    const { network, log, pods } = this.#options;
    const ports = pods().flatMap(hostPortsOf);
    const rules = JSON.stringify(ports);
    if (rules === this.#rules) return;
    this.#rules = rules;
    this.#setting = network.setHostPorts(ports);
    this.#setting.catch((error) => {
      this.#rules = '';
      log.error('cannot set host ports', { error: errorMessage(error) });
    });
  }

  /**
   * Resolves when the pod's host ports are forwarded to it, so that a ready pod can be reached through them.
   */
  async leadTo(pod: Pod): Promise<void> {
    if (wantedPortsOf(pod).length === 0) return;
    this.sync();
    await this.#setting;
  }
}

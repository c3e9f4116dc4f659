/** Ports of this machine follow the addresses of the pods that ask for them. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { PodNetwork } from '../runtime/pod-network.ts';
import { hostPortsOf, type WantedPort, wantedPortsOf } from './plan/host-ports.ts';

export interface HostPortRulesOptions {
  readonly network: Pick<PodNetwork, 'setHostPorts'>;
  readonly log: Logger;
  /** The pods of this node, each with its newest status. */
  readonly pods: () => readonly Pod[];
  /** Rejects, in one line, when something on this machine listens on the port. Absent: not looked for. */
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

  /** Rejects for a port that a program of this machine has: a rule for it would silently take it away. */
  async requireFree(pod: Pod): Promise<void> {
    for (const port of wantedPortsOf(pod)) await this.#options.requireFreePort?.(port);
  }

  /** What fails is logged, and done with the next call. */
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

  /** Resolves when the ports that the pod asks for lead to it, so that one that is ready is reached by them. */
  async leadTo(pod: Pod): Promise<void> {
    if (wantedPortsOf(pod).length === 0) return;
    this.sync();
    await this.#setting;
  }
}

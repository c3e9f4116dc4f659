/** The pod network as the node agent uses it; the role that creates both passes it in. */
import type { HostPort } from '../../api/core/v1/pod/forwarded-port.ts';

export interface PodNetwork {
  /**
   * Sets up forwarding, masquerading and the firewall's acceptance for pods of `podCIDR`. Idempotent; repairs
   * what is missing.
   */
  setUp(podCIDR: string): Promise<void>;
  /** Returns a free address; throws when there is none. `setUp` must have run. */
  allocate(): string;
  /** Marks an address as taken, for a sandbox that was found running. */
  adopt(ip: string): void;
  release(ip: string): void;
  /** Gives the network namespace of process `pid` the address and its route out. */
  attach(ip: string, pid: number): Promise<void>;
  /**
   * Allows only this machine to connect to the pod from now on; others get no answer. In force while the link
   * exists.
   */
  close(ip: string): Promise<void>;
  /** Removes the link; the address stays taken until `release`. Idempotent. */
  detach(ip: string): Promise<void>;
  /** Sets the whole set of host ports; others are removed. */
  setHostPorts(ports: readonly HostPort[]): Promise<void>;
}

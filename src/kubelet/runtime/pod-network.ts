/** What the node agent needs from the pod network; the role that creates both passes it in. */
import type { HostPort } from '../../base/host-port.ts';

export interface PodNetwork {
  /** Forwarding, masquerading and the firewall's acceptance for pods of `podCIDR`. Idempotent; mends what is gone. */
  setUp(podCIDR: string): Promise<void>;
  /** A free address; throws when there is none. `setUp` must have run. */
  allocate(): string;
  /** Marks an address as taken: that of a sandbox found running. */
  adopt(ip: string): void;
  release(ip: string): void;
  /** Gives the network namespace of process `pid` the address and its way out. */
  attach(ip: string, pid: number): Promise<void>;
  /** From now on only this machine itself connects to the pod; others get no answer. For as long as the link is there. */
  close(ip: string): Promise<void>;
  /** Removes the link; the address stays taken until `release`. Idempotent. */
  detach(ip: string): Promise<void>;
  /** The whole set; what is not in it is removed. */
  setHostPorts(ports: readonly HostPort[]): Promise<void>;
}

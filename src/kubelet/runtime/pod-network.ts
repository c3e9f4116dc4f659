/** The pod network as the node agent uses it; the role that creates both passes it in. */
import type { HostPort } from '../../api/core/v1/pod/forwarded-port.ts';

/** Addresses of IPv6 that exist beside those of IPv4. */
export interface SecondAddresses {
  /** The node's; undefined if it has none. */
  readonly ofNode: string | undefined;
  /** Returns that of the pod with an IPv4 address; undefined if the node's pods have none. */
  readonly ofPod: (ip: string) => string | undefined;
}

/** Returns the addresses of this node, the one of IPv4 first. */
export const nodeAddresses = (nodeIP: string, second?: SecondAddresses): readonly string[] =>
  second?.ofNode === undefined ? [nodeIP] : [nodeIP, second.ofNode];

/** Returns the addresses of the pod with an IPv4 address. */
export function podAddresses(ip: string, second?: SecondAddresses): readonly string[] {
  const other = second?.ofPod(ip);
  return other === undefined ? [ip] : [ip, other];
}

export interface PodNetwork {
  /**
   * Sets up forwarding, masquerading and the firewall's acceptance for pods of `podCIDR`, a range or one of
   * each family with a comma between them. Idempotent; repairs what is missing.
   */
  setUp(podCIDR: string): Promise<void>;
  /** Returns a free address; throws when there is none. `setUp` must have run. */
  allocate(): string;
  /** Returns the addresses of the pod that has the allocated one: this one, and possibly one of IPv6. */
  addressesOf(ip: string): readonly string[];
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

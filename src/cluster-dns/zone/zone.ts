/** The information about the cluster's names that answers are made from. */
import type { ServiceNames } from './service-names.ts';

export interface Zone {
  /** Domain in lower case, without a trailing dot: `cluster.local`. */
  readonly domain: string;
  /** Address of the name server itself. */
  readonly nameServer: string;
  /** Increases with every change. */
  readonly serial: number;
  hasNamespace(name: string): boolean;
  service(namespace: string, name: string): ServiceNames | undefined;
  /** Returns the names of an address, without the domain: `web.shop.svc`, `0.db.shop.svc`. */
  namesOf(ip: string): readonly string[];
  /**
   * Returns true when an address is in the cluster's own networks, so that no other server has its name.
   */
  ownsAddress(ip: string): boolean;
  /**
   * Returns the addresses of a name of any domain that the cluster serves itself; undefined when it does not.
   */
  hostAddresses(name: string): readonly string[] | undefined;
}

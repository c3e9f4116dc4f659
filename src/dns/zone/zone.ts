/** What there is to know about the cluster's names, as the answers need it. */
import type { ServiceNames } from './service-names.ts';

export interface Zone {
  /** Lower case, without a dot at its end: `cluster.local`. */
  readonly domain: string;
  /** The address of the name server itself. */
  readonly nameServer: string;
  /** Grows with every change. */
  readonly serial: number;
  hasNamespace(name: string): boolean;
  service(namespace: string, name: string): ServiceNames | undefined;
  /** The names that an address stands for, without the domain: `web.shop.svc`, `0.db.shop.svc`. */
  namesOf(ip: string): readonly string[];
  /** Whether an address is of the cluster's own networks, so that nobody else knows its name. */
  ownsAddress(ip: string): boolean;
  /** The addresses of a name of any domain that the cluster serves itself; undefined when it does not. */
  hostAddresses(name: string): readonly string[] | undefined;
}

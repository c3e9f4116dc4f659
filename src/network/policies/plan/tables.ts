/** The desired state of the kernel for network policies, in one family of addresses. Pure. */
import type { Direction } from './compiled-policy.ts';

export type Family = 'ip' | 'ip6';

export type SetKind = 'pods' | 'ranges' | 'ports';

export interface AddressSet {
  readonly kind: SetKind;
  /** As nft writes them. The same object as before if nothing changed. */
  readonly elements: ReadonlySet<string>;
}

export interface PolicyTables {
  readonly sets: ReadonlyMap<string, AddressSet>;
  /** Rules of each chain, by name. A name never gets other rules. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** The chain of each isolated pod, by its address. */
  readonly verdicts: Readonly<Record<Direction, ReadonlyMap<string, string>>>;
}

export const noTables: PolicyTables = {
  sets: new Map(),
  chains: new Map(),
  verdicts: { ingress: new Map(), egress: new Map() },
};

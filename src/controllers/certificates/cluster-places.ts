/** The addresses and names that belong to the cluster, under which no node may serve. */
import type { Lease } from '../../api/coordination/v1/lease.ts';
import { type MasterPlace, placesOf } from '../../api/coordination/v1/master-lease.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import { packKey } from '../../base/packed-key.ts';
import type { Lister } from '../../client/informer.ts';
import type { ClusterPlaces } from './csr-serving-plan.ts';

/**
 * Reserved ranges, one or one of each family as in `familyRanges`, and domain: no node may serve under these
 * addresses and names.
 */
export interface ReservedPlaces {
  readonly serviceCidr: string;
  readonly clusterCidr: string;
  readonly clusterDomain: string;
}

/**
 * Reads the masters from their Leases, which only masters may write; the Service and its slices would
 * disappear when a user deletes them.
 */
export class KnownPlaces {
  readonly #reserved: Pick<ClusterPlaces, 'clusterDomain' | 'ranges'>;
  readonly #services: Lister<Service>;
  /** Known masters, including stopped ones, because a certificate outlasts their restart. */
  readonly #masters = new Map<string, MasterPlace>();

  constructor({ clusterDomain, serviceCidr, clusterCidr }: ReservedPlaces, services: Lister<Service>) {
    this.#reserved = { clusterDomain, ranges: [...serviceCidr.split(','), ...clusterCidr.split(',')] };
    this.#services = services;
  }

  /** Records the masters of a Lease. Returns true if the Lease has published the address of one. */
  learn(lease: Lease): boolean {
    const found = lease.metadata.namespace === 'kube-system' ? placesOf([lease]) : [];
    for (const place of found) this.#masters.set(packKey(place.address, place.hostname ?? ''), place);
    return found.length > 0;
  }

  places(): ClusterPlaces {
    const serviceAddresses = ['default/kubernetes', 'kube-system/kube-dns'].flatMap(
      (key) => this.#services.get(key)?.spec.clusterIPs ?? this.#services.get(key)?.spec.clusterIP ?? [],
    );
    return { ...this.#reserved, serviceAddresses, masters: [...this.#masters.values()] };
  }
}

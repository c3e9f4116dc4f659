/**
 * The external addresses of Services that nodes serve: no address of the cluster or of its machines, and each
 * port of an address only for the Service that holds it. Admission can only check the state at the time of
 * the write; this class tracks the current state, for the proxies and for the status of Services. No clock,
 * no I/O.
 */

import type { KubeObject, ObjectKey } from '../../../../apimachinery/meta.ts';
import {
  nodeIPAnnotation,
  nodeIPv6Annotation,
  podCIDR6Annotation,
  podCIDRAnnotation,
} from '../node/annotations.ts';
import type { Service } from '../types.gen.ts';
import { ExternalHolders } from './external-addresses.ts';
import { clusterRanges, reservedReader } from './reserved-addresses.ts';

export interface ClusterPlaces {
  /** Ranges of Services, one or one of each family (`familyRanges`). */
  readonly serviceCIDR: string;
  /** Ranges of all pods, one or one of each family. */
  readonly clusterCIDR: string;
  /** Address of the node that serves; absent if there is no single node. */
  readonly nodeIP?: string;
}

export class ExternalPorts {
  readonly #places: ClusterPlaces;
  readonly #holders = new ExternalHolders();
  /** Addresses and pod ranges that each node has announced, with commas between them, by node name. */
  readonly #nodes = new Map<string, { readonly address: string; readonly ranges: string }>();
  #masters: readonly string[] = [];
  #reserved: ReturnType<typeof reservedReader> | undefined;

  constructor(places: ClusterPlaces) {
    this.#places = places;
  }

  /**
   * Sets the current Service, or undefined after its deletion. Returns the Services whose rules may have
   * changed.
   */
  setService(key: ObjectKey, service: Service | undefined): Iterable<ObjectKey> {
    return this.#holders.replace(key, service);
  }

  /**
   * Sets the metadata of a Node, or undefined after its deletion. Returns the Services whose rules may have
   * changed.
   */
  setNode(name: string, node: KubeObject | undefined): Iterable<ObjectKey> {
    const { annotations = {} } = node?.metadata ?? {};
    const address = [annotations[nodeIPAnnotation], annotations[nodeIPv6Annotation]].filter(Boolean).join();
    const ranges = [annotations[podCIDRAnnotation], annotations[podCIDR6Annotation]].filter(Boolean).join();
    const before = this.#nodes.get(name);
    if ((before?.address ?? '') === address && (before?.ranges ?? '') === ranges) return [];
    if (address === '' && ranges === '') this.#nodes.delete(name);
    else this.#nodes.set(name, { address, ranges });
    return this.#machinesChanged();
  }

  /** Sets the addresses of all masters. Returns the Services whose rules may have changed. */
  setMasters(addresses: readonly string[]): Iterable<ObjectKey> {
    if (addresses.join() === this.#masters.join()) return [];
    this.#masters = addresses;
    return this.#machinesChanged();
  }

  /** Returns true if the Service is served at the external address and port (see `externalPort`). */
  isServed(key: ObjectKey, address: string, port: string): boolean {
    return this.reservedAs(address) === undefined && this.#holders.holder(port) === key;
  }

  /**
   * Returns the owner of a reserved address, such as `the address of node a`; undefined for an address that
   * is not reserved.
   */
  reservedAs(address: string): string | undefined {
    this.#reserved ??= this.#readReserved();
    return this.#reserved(address);
  }

  /** Returns the key of the Service that holds the port; undefined if no Service requests it. */
  holder(port: string): ObjectKey | undefined {
    return this.#holders.holder(port);
  }

  #machinesChanged(): Iterable<ObjectKey> {
    this.#reserved = undefined;
    return this.#holders.services();
  }

  #readReserved() {
    const { serviceCIDR, clusterCIDR, nodeIP } = this.#places;
    const nodes = [...this.#nodes];
    return reservedReader({
      ranges: [
        ...clusterRanges({ serviceCIDR, clusterCIDR }),
        ...nodes.flatMap(([name, { ranges }]) =>
          ranges.split(',').map((range) => ({ range, what: `the range of the pods of node ${name}` })),
        ),
      ],
      machines: [
        ...(nodeIP === undefined ? [] : [{ address: nodeIP, what: 'this node' }]),
        ...nodes.flatMap(([name, { address: all }]) =>
          all.split(',').map((address) => ({ address, what: `node ${name}` })),
        ),
        ...this.#masters.map((address) => ({ address, what: 'a master' })),
      ],
    });
  }
}

/**
 * Which external addresses of Services nodes serve: none that is of the cluster or of one of its machines,
 * and each port of one for the Service that has it. Admission knows only what is there when a Service is
 * written; this follows what there is, for the proxies and for the status of the Services. Without clock or
 * I/O.
 */

import type { KubeObject, ObjectKey } from '../../../apimachinery/meta.ts';
import { ExternalHolders } from './external-addresses.ts';
import { nodeIPAnnotation, podCIDRAnnotation } from './node-annotations.ts';
import { reservedReader } from './reserved-addresses.ts';
import type { Service } from './service.ts';

export interface ClusterPlaces {
  readonly serviceCIDR: string;
  /** The range of all pods. */
  readonly clusterCIDR: string;
  /** Address of the node that serves; absent where no single node does. */
  readonly nodeIP?: string;
}

export class ExternalPorts {
  readonly #places: ClusterPlaces;
  readonly #holders = new ExternalHolders();
  /** By name: the address and range of pods that each node has announced. */
  readonly #nodes = new Map<string, { readonly address: string; readonly range: string }>();
  #masters: readonly string[] = [];
  #reserved: ReturnType<typeof reservedReader> | undefined;

  constructor(places: ClusterPlaces) {
    this.#places = places;
  }

  /**
   * Takes the Service as it is now, or undefined when it has gone. Returns the Services whose rules may have
   * changed by it.
   */
  setService(key: ObjectKey, service: Service | undefined): Iterable<ObjectKey> {
    return this.#holders.replace(key, service);
  }

  /**
   * Takes the metadata of a Node, or undefined when it has gone. Returns the Services whose rules may have
   * changed by it.
   */
  setNode(name: string, node: KubeObject | undefined): Iterable<ObjectKey> {
    const { [nodeIPAnnotation]: address = '', [podCIDRAnnotation]: range = '' } =
      node?.metadata.annotations ?? {};
    const before = this.#nodes.get(name);
    if ((before?.address ?? '') === address && (before?.range ?? '') === range) return [];
    if (address === '' && range === '') this.#nodes.delete(name);
    else this.#nodes.set(name, { address, range });
    return this.#machinesChanged();
  }

  /** Takes the addresses of all masters. Returns the Services whose rules may have changed by it. */
  setMasters(addresses: readonly string[]): Iterable<ObjectKey> {
    if (addresses.join() === this.#masters.join()) return [];
    this.#masters = addresses;
    return this.#machinesChanged();
  }

  /** Returns whether the external address is served for the Service on the port (see `externalPort`). */
  isServed(key: ObjectKey, address: string, port: string): boolean {
    return this.reservedAs(address) === undefined && this.#holders.holder(port) === key;
  }

  /**
   * Returns whose an address is that no Service may have, such as `the address of node a`; undefined for
   * another.
   */
  reservedAs(address: string): string | undefined {
    this.#reserved ??= this.#readReserved();
    return this.#reserved(address);
  }

  /** Returns the key of the Service that has the port; undefined where no Service asks for it. */
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
        { range: serviceCIDR, what: 'the range of Services' },
        { range: clusterCIDR, what: 'the range of pods' },
        ...nodes.map(([name, { range }]) => ({ range, what: `the range of the pods of node ${name}` })),
      ],
      machines: [
        ...(nodeIP === undefined ? [] : [{ address: nodeIP, what: 'this node' }]),
        ...nodes.map(([name, { address }]) => ({ address, what: `node ${name}` })),
        ...this.#masters.map((address) => ({ address, what: 'a master' })),
      ],
    });
  }
}

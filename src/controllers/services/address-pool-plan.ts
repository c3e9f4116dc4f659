/** Plans the address of the pool that a Service gets, and why it gets none. Pure. */
import {
  addressesOf,
  countOf,
  isInPool,
  type PoolState,
  poolPlace,
} from '../../api/core/v1/service/address-pool.ts';
import { requestedAddress } from '../../api/core/v1/service/node-load-balancer.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import { type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { canonicalAddress, isIPv4 } from '../../base/addresses.ts';

export interface PoolFacts {
  readonly pool: PoolState;
  /** Addresses of the pool that the Service has. */
  readonly owned: readonly string[];
  /** Returns the Service that has the address. */
  readonly holderOf: (address: string) => ObjectKey | undefined;
  /** Returns the owner of an address that no Service may have, such as `the address of node a`. */
  readonly reservedAs: (address: string) => string | undefined;
  /** Names of the nodes that may answer for the address. */
  readonly announcers: readonly string[];
}

export interface PoolProblem {
  readonly reason:
    | 'AddressNotInPool'
    | 'AddressReserved'
    | 'AddressTaken'
    | 'NoNode'
    | 'PoolExhausted'
    | 'PoolInvalid'
    | 'NoPool';
  readonly message: string;
}

export interface PoolChoice {
  readonly address: string | undefined;
  readonly problem: PoolProblem | undefined;
}

const none = (reason: PoolProblem['reason'], message: string): PoolChoice => ({
  address: undefined,
  problem: { reason, message },
});

/** Returns the address of a Service that gets one of the pool. A Service keeps the address that it has. */
export function choosePoolAddress(service: Service, facts: PoolFacts): PoolChoice {
  const choice = chosen(service, facts);
  if (choice.address === undefined || facts.announcers.length > 0) return choice;
  const why =
    service.spec.externalTrafficPolicy === 'Local'
      ? 'externalTrafficPolicy is Local, and no ready node has a ready pod of it'
      : 'there is no ready node';
  return { ...choice, problem: { reason: 'NoNode', message: `no node announces ${choice.address}: ${why}` } };
}

function chosen(service: Service, facts: PoolFacts): PoolChoice {
  const { pool: state, owned } = facts;
  const wanted = requestedAddress(service);
  const [current] = owned;
  if (!state)
    return none(
      'NoPool',
      `the cluster has no addresses: create the ConfigMap ${poolPlace.namespace}/${poolPlace.name}`,
    );
  if ('problem' in state) {
    return current === undefined
      ? none('PoolInvalid', state.problem)
      : { address: current, problem: { reason: 'PoolInvalid', message: state.problem } };
  }
  if (wanted !== undefined) return requested(service, wanted, facts);
  const isFree = (address: string) => isAvailable(service, address, facts);
  const address =
    owned.find((one) => isInPool(state.pool, one) && isFree(one)) ?? addressesOf(state.pool).find(isFree);
  if (address !== undefined) return { address, problem: undefined };
  return none('PoolExhausted', `none of the ${countOf(state.pool)} addresses of the pool is free`);
}

function isAvailable(service: Service, address: string, { holderOf, reservedAs }: PoolFacts): boolean {
  const holder = holderOf(address);
  return (holder === undefined || holder === objectKey(service)) && reservedAs(address) === undefined;
}

function requested(
  service: Service,
  text: string,
  { pool: state, holderOf, reservedAs }: PoolFacts,
): PoolChoice {
  const address = canonicalAddress(text) ?? text;
  if (!isIPv4(address) || !state || !('pool' in state) || !isInPool(state.pool, address))
    return none('AddressNotInPool', `the requested address ${address} is not in the pool of the cluster`);
  const whose = reservedAs(address);
  if (whose !== undefined) return none('AddressReserved', `the requested address ${address} is ${whose}`);
  const holder = holderOf(address);
  if (holder === undefined || holder === objectKey(service)) return { address, problem: undefined };
  const [namespace] = holder.split('/');
  return none(
    'AddressTaken',
    `the requested address ${address} belongs to a Service of the namespace ${namespace}`,
  );
}

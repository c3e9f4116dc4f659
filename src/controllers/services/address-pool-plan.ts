/** Plans the address of the pool that a Service gets, and why it gets none. Pure. */
import {
  type AddressPool,
  addressesOf,
  countOf,
  isInPool,
  type PoolState,
  poolOfFamily,
  poolPlace,
} from '../../api/core/v1/service/address-pool.ts';
import { servedFamilies } from '../../api/core/v1/service/external-addresses.ts';
import { requestedAddresses } from '../../api/core/v1/service/node-load-balancer.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import { type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { type AddressFamily, familyOf } from '../../base/address-families.ts';
import { canonicalAddress } from '../../base/addresses.ts';

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
  /** At most one address of each family of the Service, in the order of its families. */
  readonly addresses: readonly string[];
  readonly problem: PoolProblem | undefined;
}

const none = (reason: PoolProblem['reason'], message: string): PoolChoice => ({
  addresses: [],
  problem: { reason, message },
});

/** Returns the addresses of a Service that gets some of the pool. A Service keeps those that it has. */
export function choosePoolAddresses(service: Service, facts: PoolFacts): PoolChoice {
  const choice = chosen(service, facts);
  if (choice.addresses.length === 0 || facts.announcers.length > 0) return choice;
  const why =
    service.spec.externalTrafficPolicy === 'Local'
      ? 'externalTrafficPolicy is Local, and no ready node has a ready pod of it'
      : 'there is no ready node';
  const message = `no node announces ${choice.addresses.join(' and ')}: ${why}`;
  return { ...choice, problem: { reason: 'NoNode', message } };
}

function chosen(service: Service, facts: PoolFacts): PoolChoice {
  const { pool: state, owned } = facts;
  if (!state)
    return none(
      'NoPool',
      `the cluster has no addresses: create the ConfigMap ${poolPlace.namespace}/${poolPlace.name}`,
    );
  const families = servedFamilies(service.spec);
  if ('problem' in state) {
    const addresses = families.flatMap((family) => owned.find((one) => familyOf(one) === family) ?? []);
    return { addresses, problem: { reason: 'PoolInvalid', message: state.problem } };
  }
  const wanted = requestedAddresses(service);
  const choices =
    wanted.length > 0
      ? wanted.map((text) => requested(service, text, facts))
      : families.map((family) => ofFamily(service, poolOfFamily(state.pool, family), family, facts));
  const addresses = choices.flatMap((one) => one.addresses);
  const problem = choices.find((one) => one.problem)?.problem;
  // A Service that only prefers two families is served with the addresses that there are.
  const isEnough = addresses.length > 0 && service.spec.ipFamilyPolicy === 'PreferDualStack';
  return { addresses, problem: isEnough ? undefined : problem };
}

function ofFamily(service: Service, pool: AddressPool, family: AddressFamily, facts: PoolFacts): PoolChoice {
  if (pool.length === 0) return none('PoolExhausted', `the pool has no addresses of ${family}`);
  const isFree = (address: string) => isAvailable(service, address, facts);
  const address =
    facts.owned.find((one) => isInPool(pool, one) && isFree(one)) ?? addressesOf(pool).find(isFree);
  if (address !== undefined) return { addresses: [address], problem: undefined };
  const all = family === 'IPv4' ? 'addresses' : `${family} addresses`;
  return none('PoolExhausted', `none of the ${countOf(pool)} ${all} of the pool is free`);
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
  if (!state || !('pool' in state) || !isInPool(state.pool, address))
    return none('AddressNotInPool', `the requested address ${address} is not in the pool of the cluster`);
  const family = familyOf(address);
  if (!servedFamilies(service.spec).some((one) => one === family))
    return none('AddressNotInPool', `the requested address ${address} is of no family of the Service`);
  const whose = reservedAs(address);
  if (whose !== undefined) return none('AddressReserved', `the requested address ${address} is ${whose}`);
  const holder = holderOf(address);
  if (holder === undefined || holder === objectKey(service))
    return { addresses: [address], problem: undefined };
  const [namespace] = holder.split('/');
  return none(
    'AddressTaken',
    `the requested address ${address} belongs to a Service of the namespace ${namespace}`,
  );
}

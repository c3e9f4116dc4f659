/** Decides which ServiceCIDRs a node serves. Pure. */
import { cidrsOf, readyCondition, type ServiceCIDR } from '../api/networking/v1/service-cidr.ts';
import { type PrefixRange, rangesMeet, readRange } from '../base/address-families.ts';

export interface MachinePlaces {
  /** Ranges of Services and of pods by the settings of the node, each one or one of each family. */
  readonly serviceCIDR: string;
  readonly clusterCIDR: string;
  /** Addresses of the machine. */
  readonly addresses: readonly string[];
}

export interface FurtherRangesPlan {
  readonly ranges: readonly string[];
  /** One line for each range that the node does not serve. */
  readonly problems: readonly string[];
}

const unusable = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
];

/**
 * Returns the ranges of all ServiceCIDRs that have ever been ready. A range that has an address of this
 * machine or of a pod is left out: traffic to these addresses would be rejected.
 */
export function planFurtherRanges(all: readonly ServiceCIDR[], machine: MachinePlaces): FurtherRangesPlan {
  const own = new Set(machine.serviceCIDR.split(','));
  const reserved = reservedRanges(machine);
  const plan = { ranges: new Set<string>(), problems: [] as string[] };
  const wanted = all
    .filter((one) => readyCondition(one) !== undefined)
    .flatMap((one) => cidrsOf(one).map((cidr) => ({ name: one.metadata.name, cidr })));
  for (const { name, cidr } of wanted.filter((one) => !own.has(one.cidr))) {
    const range = readRange(cidr);
    const clash = range && reserved.find((other) => rangesMeet(other.range, range));
    if (clash) plan.problems.push(problemOf(name, cidr, clash.what));
    else if (range) plan.ranges.add(cidr);
  }
  return { ranges: [...plan.ranges].sort(), problems: plan.problems };
}

interface Reserved {
  readonly range: PrefixRange;
  readonly what: string;
}

const reservedRanges = ({ clusterCIDR, addresses }: MachinePlaces): readonly Reserved[] =>
  [
    ...clusterCIDR.split(',').map((text) => ({ text, what: `the range ${text} of pods` })),
    ...addresses.map((ip) => ({ text: alone(ip), what: `the address ${ip} of this machine` })),
    ...unusable.map((text) => ({ text, what: `addresses of ${text}` })),
  ].flatMap(({ text, what }) => {
    const range = readRange(text);
    return range ? [{ range, what }] : [];
  });

const problemOf = (name: string, cidr: string, what: string) =>
  `the range ${cidr} of ServiceCIDR ${name} is not served here, since it has ${what}: delete the ServiceCIDR and create one with another range`;

const alone = (address: string) => `${address}/${address.includes(':') ? 128 : 32}`;

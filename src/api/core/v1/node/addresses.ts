/**
 * The addresses in a Node's status. A node sets them itself and other components rely on them, so each must
 * be valid for its type (upstream only rejects duplicates).
 */
import {
  duplicateCause,
  invalidCause,
  notSupportedCause,
  tooManyCause,
} from '../../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { addressKind, canonicalAddress } from '../../../../base/addresses.ts';
import { checkIPAddress } from '../../../ip.ts';

interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

const checks: Readonly<Record<string, (address: string) => string[]>> = {
  Hostname: checkDns1123Subdomain,
  InternalIP: checkMachineIP,
  ExternalIP: checkMachineIP,
  InternalDNS: checkDns1123Subdomain,
  ExternalDNS: checkDns1123Subdomain,
};
const types = Object.keys(checks);

const most = 64;

/** Allowed kinds of addresses: a machine without a network has its loopback address. */
const kinds = new Set(['unicast', 'loopback']);

function checkMachineIP(text: string): string[] {
  const problems = checkIPAddress(text);
  const kind = addressKind(text) ?? 'unicast';
  return problems.length > 0 || kinds.has(kind) ? problems : [`may not be ${kind}`];
}

/** Returns the host names among the addresses: a node is reachable by these, too. */
export const nodeHostnames = (addresses: readonly NodeAddress[]): string[] =>
  addresses.flatMap(({ type, address }) => (type.endsWith('IP') ? [] : [address]));

export function validateNodeAddresses(addresses: readonly NodeAddress[], path: string): StatusCause[] {
  if (addresses.length > most) return [tooManyCause(path, addresses.length, most)];
  const seen = new Set<string>();
  return addresses.flatMap(({ type, address }, index) => {
    const at = `${path}[${index}]`;
    const check = Object.hasOwn(checks, type) ? checks[type] : undefined;
    if (!check) return [notSupportedCause(`${at}.type`, type, types)];
    const problems = check(address).map((why) => invalidCause(`${at}.address`, address, why));
    const same = `${type} ${canonicalAddress(address) ?? address}`;
    if (seen.has(same)) problems.push(duplicateCause(at, { type, address }));
    seen.add(same);
    return problems;
  });
}

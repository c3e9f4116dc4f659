/**
 * Rules by which the machine's firewall accepts pod traffic. Docker sets the policy of FORWARD to drop; only
 * a rule in the same table can accept packets.
 */
import type { AddressFamily } from '../base/address-families.ts';
import { type Exec, ExecError } from '../os/exec.ts';

/** Program that writes the rules of a family, and their table as nft names it. */
export interface Firewall {
  readonly program: 'iptables' | 'ip6tables';
  readonly table: string;
}

export const firewalls: Readonly<Record<AddressFamily, Firewall>> = {
  IPv4: { program: 'iptables', table: 'ip filter' },
  IPv6: { program: 'ip6tables', table: 'ip6 filter' },
};

const comment = 'minik8s pod network';
const jumpTo = (chain: string) => ['-m', 'comment', '--comment', comment, '-j', chain];

/** Accepts packets from and to a range. Resolves to true if FORWARD did not jump to the chain before. */
export async function acceptForwarding(
  exec: Exec,
  { program }: Firewall,
  chain: string,
  range: string,
): Promise<boolean> {
  const jump = jumpTo(chain);
  const rules = [
    ['-s', range, '-j', 'ACCEPT'],
    ['-d', range, '-j', 'ACCEPT'],
  ];
  const has = (...args: readonly string[]) => succeeds(exec, program, ['-w', ...args]);
  const [hasChain, hasJump, ...hasRule] = await Promise.all([
    has('-n', '-L', chain),
    has('-C', 'FORWARD', ...jump),
    ...rules.map((rule) => has('-C', chain, ...rule)),
  ]);
  if (!hasChain) await exec(program, ['-w', '-N', chain]);
  for (const [index, rule] of rules.entries())
    if (!hasRule[index]) await exec(program, ['-w', '-A', chain, ...rule]);
  if (hasJump) return false;
  await exec(program, ['-w', '-I', 'FORWARD', ...jump]);
  return true;
}

/** Removes the rules; has no effect where there are none. */
export async function removeAcceptance(exec: Exec, { program }: Firewall, chain: string): Promise<void> {
  while (await succeeds(exec, program, ['-w', '-D', 'FORWARD', ...jumpTo(chain)]));
  if (await succeeds(exec, program, ['-w', '-F', chain])) await exec(program, ['-w', '-X', chain]);
}

async function succeeds(exec: Exec, program: string, args: readonly string[]): Promise<boolean> {
  try {
    await exec(program, args);
    return true;
  } catch (error) {
    if (error instanceof ExecError && error.failure.code !== undefined) return false;
    throw error;
  }
}

/** Reads firewalls that other programs of this machine set up. */
import { type Exec, ExecError } from '../../os/exec.ts';
import type { FirewallFacts } from '../checks/firewall.ts';
import { forwardChains, legacyForwardChain } from '../forward-chains.ts';
import { droppingRules } from '../nft-rules.ts';
import type { Sources } from './sources.ts';
import { textOf } from './text-file.ts';

export async function readFirewall({ exec, situation: { clusterCIDR } }: Sources): Promise<FirewallFacts> {
  const [rules, legacy, state, ufw] = await Promise.all([
    exec('nft', ['-a', 'list', 'ruleset']),
    legacyRules(exec),
    ifInstalled(exec, 'firewall-cmd', ['--state']),
    ifInstalled(exec, 'ufw', ['status', 'verbose']),
  ]);
  const words = async (...args: string[]) => (await exec('firewall-cmd', args)).stdout.trim().split(/\s+/);
  return {
    drops: droppingRules(rules.stdout),
    forwards: [...forwardChains(rules.stdout, clusterCIDR), ...legacyForwardChain(legacy, clusterCIDR)],
    ownTables: [...rules.stdout.matchAll(/^table (\S+ minik8s-\S+) \{/gm)].map(([, table = '']) => table),
    ...(ufw !== undefined && { ufw }),
    ...(state?.trim() === 'running' && {
      firewalld: {
        ports: await words('--list-ports'),
        trusted: await words('--zone=trusted', '--list-sources'),
      },
    }),
  };
}

/** Resolves to the rules of the older iptables; to an empty text where that, or its table, is not used. */
async function legacyRules(exec: Exec): Promise<string> {
  // The program loads the module of its table, which `nft` does not show.
  if (!/^filter$/m.test(await textOf('/proc/net/ip_tables_names'))) return '';
  return (await ifInstalled(exec, 'iptables-legacy', ['-w', '-S', 'FORWARD'])) ?? '';
}

/** Resolves to the output; to undefined if the program is not installed. */
async function ifInstalled(
  exec: Exec,
  program: string,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    return (await exec(program, args)).stdout;
  } catch (error) {
    if (!(error instanceof ExecError)) throw error;
    if (error.failure.code === undefined) return undefined;
    // firewall-cmd reports a stopped daemon by its exit status.
    if (program === 'firewall-cmd') return 'not running';
    throw error;
  }
}

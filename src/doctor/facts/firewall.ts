/** Reads firewalls that other programs of this machine set up. */
import { type Exec, ExecError } from '../../os/exec.ts';
import type { FirewallFacts } from '../checks/firewall.ts';
import { droppingRules } from '../nft-rules.ts';
import type { Sources } from './sources.ts';

export async function readFirewall({ exec }: Sources): Promise<FirewallFacts> {
  const [rules, state, ufw] = await Promise.all([
    exec('nft', ['-a', 'list', 'ruleset']),
    ifInstalled(exec, 'firewall-cmd', ['--state']),
    ifInstalled(exec, 'ufw', ['status', 'verbose']),
  ]);
  const words = async (...args: string[]) => (await exec('firewall-cmd', args)).stdout.trim().split(/\s+/);
  return {
    drops: droppingRules(rules.stdout),
    ...(ufw !== undefined && { ufw }),
    ...(state?.trim() === 'running' && {
      firewalld: {
        ports: await words('--list-ports'),
        trusted: await words('--zone=trusted', '--list-sources'),
      },
    }),
  };
}

/** Resolves to the output; to undefined if the program is not installed. A failure also has an output. */
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

/** The traces that minik8s may leave on a machine, so that a test can detect and remove them. */
import { systemExec } from '../../../src/os/exec.ts';
import { containersWith, docker } from './docker.ts';

export interface MachineState {
  readonly containers: readonly string[];
  /** Names such as `ip minik8s`. */
  readonly tables: readonly string[];
  readonly links: readonly string[];
  /** iptables rules, as `iptables -S` prints them. */
  readonly rules: readonly string[];
  /** Routes to pods of other nodes, as `ip route` prints them. */
  readonly routes: readonly string[];
}

export async function machineState(): Promise<MachineState> {
  const [containers, tables, links, rules, routes] = await Promise.all([
    containersWith(['minik8s.io/node'], true),
    systemExec('nft', ['list', 'tables']),
    systemExec('ip', ['-json', 'link']),
    systemExec('iptables', ['-w', '-S']),
    systemExec('ip', ['route', 'show', 'proto', '107']),
  ]);
  return {
    containers,
    tables: tables.stdout
      .split('\n')
      .map((line) => line.replace(/^table /, '').trim())
      .filter((name) => name.includes('minik8s')),
    links: (JSON.parse(links.stdout) as { readonly ifname: string }[])
      .map(({ ifname }) => ifname)
      .filter((name) => /^(mk8s|minik8s\.)/.test(name)),
    rules: rules.stdout.split('\n').filter((rule) => rule.includes('MINIK8S')),
    routes: routes.stdout
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  };
}

/** Returns everything that exists now and did not exist before. */
export async function leftovers(before: MachineState): Promise<MachineState> {
  const now = await machineState();
  const added = (key: keyof MachineState) => now[key].filter((name) => !before[key].includes(name));
  return {
    containers: added('containers'),
    tables: added('tables'),
    links: added('links'),
    rules: added('rules'),
    routes: added('routes'),
  };
}

/**
 * Removes leftovers; a leftover that disappears by itself meanwhile (a veth with its container) counts as
 * removed.
 */
export async function remove({ containers, tables, links, rules, routes }: MachineState): Promise<void> {
  const ignoreGone = (error: Error) => {
    if (
      !/No such|does not exist|Cannot find device|No such process|does a matching rule exist|No chain|removal .* in progress/.test(
        error.message,
      )
    )
      throw error;
  };
  for (const id of containers) await docker('rm', '--force', '--volumes', id).catch(ignoreGone);
  for (const table of tables) {
    await systemExec('nft', ['delete', 'table', ...table.split(' ')]).catch(ignoreGone);
  }
  for (const link of links) await systemExec('ip', ['link', 'delete', link]).catch(ignoreGone);
  for (const route of routes) {
    await systemExec('ip', ['route', 'delete', ...route.split(' ')]).catch(ignoreGone);
  }
  // `-A CHAIN …` is undone by `-D CHAIN …`, and `-N CHAIN` by `-X CHAIN`, last, when no rule refers to the
  // chain any more.
  const undo = { '-A': '-D', '-N': '-X' } as const;
  for (const kind of ['-A', '-N'] as const) {
    for (const rule of rules.filter((text) => text.startsWith(kind))) {
      const [, ...words] = rule.match(/"[^"]*"|\S+/g) ?? [];
      const args = words.map((word) => word.replaceAll('"', ''));
      await systemExec('iptables', ['-w', undo[kind], ...args]).catch(ignoreGone);
    }
  }
}

/** What minik8s leaves on a machine, so that a test can prove it left nothing, and take away what it did. */
import { systemExec } from '../../../src/base/exec.ts';
import { containersWith, docker } from './docker.ts';

export interface MachineState {
  readonly containers: readonly string[];
  /** Such as `ip minik8s`. */
  readonly tables: readonly string[];
  readonly links: readonly string[];
}

export async function machineState(): Promise<MachineState> {
  const [containers, tables, links] = await Promise.all([
    containersWith(['minik8s.io/node'], true),
    systemExec('nft', ['list', 'tables']),
    systemExec('ip', ['-json', 'link']),
  ]);
  return {
    containers,
    tables: tables.stdout
      .split('\n')
      .map((line) => line.replace(/^table /, '').trim())
      .filter((name) => name.includes('minik8s')),
    links: (JSON.parse(links.stdout) as { readonly ifname: string }[])
      .map(({ ifname }) => ifname)
      .filter((name) => /^(minik8s|mk8s|mk-|veth)/.test(name)),
  };
}

/** What is there now and was not before. */
export async function leftovers(before: MachineState): Promise<MachineState> {
  const now = await machineState();
  const added = (key: keyof MachineState) => now[key].filter((name) => !before[key].includes(name));
  return { containers: added('containers'), tables: added('tables'), links: added('links') };
}

/** Removes leftovers; what disappears by itself meanwhile (a veth with its container) is as good as removed. */
export async function remove({ containers, tables, links }: MachineState): Promise<void> {
  const ignoreGone = (error: Error) => {
    if (!/No such|does not exist|Cannot find device|removal .* in progress/.test(error.message)) throw error;
  };
  for (const id of containers) await docker('rm', '--force', '--volumes', id).catch(ignoreGone);
  for (const table of tables) {
    await systemExec('nft', ['delete', 'table', ...table.split(' ')]).catch(ignoreGone);
  }
  for (const link of links) await systemExec('ip', ['link', 'delete', link]).catch(ignoreGone);
}

/** The steps that undo an installation, in the reverse order of their making. */
import { configDirectory } from './install-plan.ts';
import { type Installed, recordFile } from './installed.ts';
import { sysctls } from './kernel.ts';
import type { Machine } from './machine.ts';
import { configFileOf } from './role.ts';
import type { Step } from './step.ts';

/**
 * Returns the steps. With `keepData` the cluster's data and the role's configuration stay, so that a later
 * installation goes on with them.
 */
export function uninstallPlan(
  { found, sysctls: current }: Pick<Machine, 'found' | 'sysctls'>,
  installed: Installed,
  keepData: boolean,
): readonly Step[] {
  const { role, dataDir, created, before } = installed;
  const config = configFileOf[role];
  const isKept = (path: string) => keepData && (path === config || path === configDirectory);
  const gone = created.toReversed().filter((path) => found.has(path) && !isKept(path));
  const restored = Object.entries(before).filter(([path]) => !isKept(path));
  return [
    { kind: 'remove-service' },
    { kind: 'reset', keepData, dataDir },
    ...gone.filter((path) => path !== configDirectory).map((path): Step => ({ kind: 'remove-path', path })),
    ...restored.map(([path, { text, mode }]): Step => ({ kind: 'write-file', path, content: text, mode })),
    { kind: 'reload-services' },
    ...loweredSysctls(installed, current),
    { kind: 'remove-path', path: recordFile },
    ...gone
      .filter((path) => path === configDirectory)
      .map((path): Step => ({ kind: 'remove-empty-directory', path })),
  ];
}

/** Returns steps for the parameters that still have the value of the installation. */
const loweredSysctls = ({ sysctls: before }: Installed, current: ReadonlyMap<string, string>): Step[] =>
  Object.entries(before)
    .filter(([name]) => current.get(name) === String(sysctls[name]))
    .map(([name, value]) => ({ kind: 'set-sysctl', name, value }));

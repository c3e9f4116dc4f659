/**
 * The steps that undo an installation, in the reverse order of their making. What is undone already needs no
 * step: a removal that was interrupted is completed by the next one.
 */
import { configDirectory, executablePath, kubectlPath, recordStep, servicePathOf } from './install-plan.ts';
import { type Installed, recordFile } from './installed.ts';
import { isRestored, kernelDirectories, sysctls } from './kernel.ts';
import type { Machine } from './machine.ts';
import { logDirectory } from './openrc-script.ts';
import { configFileOf, runsPods } from './role.ts';
import { type ServiceManager, serviceManagers } from './service-manager.ts';
import type { Step } from './step.ts';

/**
 * Returns the steps. With `keepData` the cluster's data and the role's configuration stay, so that a later
 * installation goes on with them.
 */
export function uninstallPlan(
  { found, sysctls: current, serviceManager }: Pick<Machine, 'found' | 'sysctls' | 'serviceManager'>,
  installed: Installed,
  keepData: boolean,
): readonly Step[] {
  const { role, created, before } = installed;
  const config = configFileOf[role];
  const isKept = (path: string) => keepData && [config, configDirectory, logDirectory].includes(path);
  const managers = managersIn(found);
  const gone = created.toReversed().filter((path) => isOurs(found, path) && !isKept(path));
  const restored = Object.entries(before).filter(([path]) => !isKept(path));
  return [
    // The unit may be missing: an installation may have been interrupted before it, or a removal after it.
    ...managers.map((manager): Step => ({ kind: 'remove-service', manager })),
    ...resetSteps(found, installed, keepData),
    ...gone.filter((path) => !isLast(path)).map(removalOf),
    ...restored.map(([path, { text, mode }]): Step => ({ kind: 'write-file', path, content: text, mode })),
    // The script may be removed already, so only the machine itself shows that it has no systemd.
    ...(serviceManager === 'systemd' ? [{ kind: 'reload-services' } as const] : []),
    ...loweredSysctls(installed, current),
    ...gone.filter((path) => path === executablePath).map((path): Step => ({ kind: 'remove-path', path })),
    // The record is removed last: without it, a removal that was interrupted could not be repeated.
    keepData ? recordStep(keptOf(installed, isKept)) : { kind: 'remove-path', path: recordFile },
    ...gone
      .filter((path) => path === configDirectory)
      .map((path): Step => ({ kind: 'remove-empty-directory', path })),
  ];
}

/**
 * Returns the steps for a machine without a record, whose last command was killed right after the record was
 * removed, or right before it was written; empty if its directory does not exist, or holds anything else.
 */
export const leftoverPlan = (found: Machine['found']): readonly Step[] =>
  found.get(configDirectory)?.kind === 'empty-directory'
    ? [
        // Also removes a draft of the record.
        { kind: 'remove-path', path: recordFile },
        { kind: 'remove-empty-directory', path: configDirectory },
      ]
    : [];

/**
 * Returns the record of what stays with the data, so that the removal after the next installation, or one
 * without `--keep-data`, removes it.
 */
const keptOf = (installed: Installed, isKept: (path: string) => boolean): Installed => {
  const { started: _, ...others } = installed;
  const before = Object.fromEntries(Object.entries(installed.before).filter(([path]) => isKept(path)));
  return { ...others, created: installed.created.filter(isKept), before, sysctls: {} };
};

/** Returns the service managers that have a service of minik8s: one, unless another one was used before. */
const managersIn = (found: Machine['found']): readonly ServiceManager[] =>
  serviceManagers.filter((manager) => found.has(servicePathOf[manager]));

function removalOf(path: string): Step {
  if (path === logDirectory) return { kind: 'remove-directory', path };
  return { kind: kernelDirectories.includes(path) ? 'remove-empty-directory' : 'remove-path', path };
}

const isLast = (path: string) => path === configDirectory || path === executablePath;

/** Returns false for a path that is gone, and for a kubectl that is no longer the installation's link. */
function isOurs(found: Machine['found'], path: string): boolean {
  const entry = found.get(path);
  if (path !== kubectlPath) return entry !== undefined;
  return entry?.kind === 'link' && entry.target === executablePath;
}

/**
 * Returns the step that removes what a run has left. A control plane without a data directory has left
 * nothing, and neither has an installation that was interrupted before the service; pods may leave traces
 * elsewhere.
 */
function resetSteps(found: Machine['found'], installed: Installed, keepData: boolean): readonly Step[] {
  const { role, dataDir, dockerSocket } = installed;
  if (!found.has(dataDir) && (!runsPods(role) || managersIn(found).length === 0)) return [];
  const config = found.has(configFileOf[role]) ? configFileOf[role] : undefined;
  return [{ kind: 'reset', keepData, dataDir, dockerSocket, config }];
}

/** Returns steps for the parameters that still have the value of the installation. */
const loweredSysctls = ({ sysctls: before }: Installed, current: ReadonlyMap<string, string>): Step[] =>
  Object.entries(before)
    .filter(([name]) => isRestored(name) && current.get(name) === String(sysctls[name]))
    .map(([name, value]) => ({ kind: 'set-sysctl', name, value }));

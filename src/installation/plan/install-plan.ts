/**
 * Plan of an installation, from the state of the machine and the request. What exists already needs no step:
 * a second installation does nothing, and an interrupted one is completed.
 */
import { type EarlierFile, formatInstalled, type Installed, recordFile } from './installed.ts';
import { isRestored, lowSysctls, modulesFile, sysctlFile } from './kernel.ts';
import type { Machine } from './machine.ts';
import { logDirectory, openrcScript, scriptPath } from './openrc-script.ts';
import { type NodeProgram, packagesFor } from './packages.ts';
import {
  isMarked,
  requireChosenDocker,
  requireOwn,
  requirePlain,
  requireSameInstallation,
  serviceManagerIn,
} from './refusals.ts';
import { configFileOf, type Role, runsPods } from './role.ts';
import type { ServiceManager } from './service-manager.ts';
import type { Step } from './step.ts';
import { systemdUnit, unitName } from './systemd-unit.ts';

export const executablePath = '/usr/local/bin/minik8s';
export const unitPath = `/etc/systemd/system/${unitName}`;
/** File that makes minik8s a service. */
export const servicePathOf: Readonly<Record<ServiceManager, string>> = {
  systemd: unitPath,
  openrc: scriptPath,
};
export const kubectlPath = '/usr/local/bin/kubectl';
export const configDirectory = '/etc/minik8s';
/** Directory in which bash-completion looks for the completion of a command. */
export const completionDirectory = '/usr/share/bash-completion/completions';
export const completionPath = `${completionDirectory}/minik8s`;

export interface InstallRequest {
  readonly role: Role;
  readonly dataDir: string;
  readonly dockerSocket: string;
  /** Path of the executable to install, and the digest of its content. */
  readonly source: string;
  readonly sourceDigest: string;
  /** Text of the role's configuration file, with the settings of the command line. */
  readonly config: string;
  /** Completion script for bash. */
  readonly completion: string;
  /** True if a link named kubectl is wanted. */
  readonly linksKubectl: boolean;
  /** True if the service is to be started now. */
  readonly starts: boolean;
  /** Timeout of the service's stop in seconds. */
  readonly stopSeconds: number;
  /** True if the settings name a log file. */
  readonly hasLogFile: boolean;
}

export interface InstallPlan {
  readonly steps: readonly Step[];
  /** Record for uninstall, to be stored before the first step. */
  readonly installed: Installed;
  /** Digest to store as `started` once the service has started. */
  readonly digest: string;
  /** True if the steps start the service, and no earlier installation has done so. */
  readonly isFirstStart: boolean;
}

/**
 * Returns the plan. Throws an Error that says what prevents the installation and what to do. `digestOf`
 * returns a digest of a text.
 */
export function installPlan(
  machine: Machine,
  request: InstallRequest,
  digestOf: (text: string) => string,
): InstallPlan {
  const manager = serviceManagerIn(machine);
  requireSameInstallation(machine, request);
  requireChosenDocker(machine, request);
  requirePlain(machine.found, configFileOf[request.role]);
  const service = serviceFileOf(manager, request);
  const files = wantedFiles(request, service, machine.found.has(completionDirectory));
  for (const { path, mayExist } of files) if (!mayExist) requireOwn(machine, path);
  const digest = digestOf([request.sourceDigest, request.config, service.text].join('\0'));
  const packages = packageSteps(machine, request.role);
  const links = linkSteps(machine, request);
  const written = files
    .map(({ step }) => step)
    .filter((step) => !isDone(machine, step, request.sourceDigest));
  const changes = { digest, isUnitNew: isNew(machine, service), isChanged: written.some(isOfService) };
  const steps: readonly Step[] = [
    ...packages,
    ...dockerSteps(machine, request.role, manager),
    ...directorySteps(machine, request.role, manager),
    ...written,
    ...kernelSteps(machine, request.role),
    ...links,
    ...serviceSteps(machine, request, manager, changes),
  ];
  const adopted = [
    // An installation that was killed before it stored its record has left the directory of the record.
    ...(machine.found.get(configDirectory)?.kind === 'empty-directory' ? [configDirectory] : []),
    ...files.flatMap(({ path, mayExist }) => (!mayExist && machine.found.has(path) ? [path] : [])),
  ];
  return {
    steps,
    installed: recordOf(machine, request, steps, adopted),
    digest,
    isFirstStart:
      machine.installed?.started === undefined && steps.some(({ kind }) => kind === 'restart-service'),
  };
}

/** Returns false for a file that the service does not read. */
const isOfService = (step: Step): boolean => !('path' in step && step.path === completionPath);

interface WantedFile {
  readonly path: string;
  readonly step: Step;
  /** True for a file that may exist before the installation; uninstall restores its text. */
  readonly mayExist: boolean;
}

function wantedFiles(
  request: InstallRequest,
  service: ServiceFile,
  hasCompletion: boolean,
): readonly WantedFile[] {
  const { role, source, config, completion } = request;
  const text = (path: string, content: string, mode: number, mayExist = false): WantedFile => ({
    path,
    step: { kind: 'write-file', path, content, mode },
    mayExist,
  });
  const kernel = runsPods(role) ? [modulesFile, sysctlFile] : [];
  return [
    {
      path: executablePath,
      step: { kind: 'copy-file', from: source, path: executablePath },
      // A file there is a copy of minik8s that the user made, or another version.
      mayExist: true,
    },
    text(configFileOf[role], config, 0o600, true),
    ...kernel.map(({ path, content }) => text(path, content, 0o644)),
    text(service.path, service.text, service.mode),
    // A script there is one that the user has printed.
    ...(hasCompletion ? [text(completionPath, completion, 0o644, true)] : []),
  ];
}

/** The file that makes minik8s a service. */
interface ServiceFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

function serviceFileOf(manager: ServiceManager, request: InstallRequest): ServiceFile {
  const { role, stopSeconds } = request;
  const path = servicePathOf[manager];
  return manager === 'systemd'
    ? { path, text: systemdUnit(role, executablePath, stopSeconds), mode: 0o644 }
    : { path, text: openrcScript({ ...request, executable: executablePath }), mode: 0o755 };
}

function packageSteps(machine: Machine, role: Role): readonly Step[] {
  if (!runsPods(role)) return [];
  const { lackingPrograms, docker, packageManager } = machine;
  const lacksDocker = docker === 'missing';
  if (!lacksDocker && lackingPrograms.length === 0) return [];
  if (packageManager === undefined) throw lackingOf(lackingPrograms, lacksDocker);
  const names = packagesFor(packageManager, lackingPrograms, lacksDocker);
  return [{ kind: 'install-packages', manager: packageManager, names }];
}

function lackingOf(programs: readonly NodeProgram[], lacksDocker: boolean): Error {
  const what = [...(lacksDocker ? ['the Docker engine'] : []), ...programs].join(', ');
  return new Error(
    `this machine lacks ${what}, and has neither apt nor dnf: install it, then run minik8s install again`,
  );
}

const dockerSteps = ({ docker }: Machine, role: Role, manager: ServiceManager): readonly Step[] =>
  runsPods(role) && docker !== 'answers' ? [{ kind: 'start-docker', manager }] : [];

/** Returns steps for the missing directories; OpenRC has no journal, so the log is in a directory. */
const directorySteps = (
  { found, missingDirectories }: Machine,
  role: Role,
  manager: ServiceManager,
): readonly Step[] =>
  [
    ...[configDirectory, ...(manager === 'openrc' ? [logDirectory] : [])].filter((path) => !found.has(path)),
    ...(runsPods(role) ? missingDirectories : []),
  ].map((path) => ({ kind: 'make-directory', path }));

/** Returns true for a file that exists as the step makes it. */
function isDone({ found, executableDigest }: Machine, step: Step, sourceDigest: string): boolean {
  // A link to a build would be broken once the build is removed.
  if (step.kind === 'copy-file')
    return executableDigest === sourceDigest && found.get(step.path)?.kind !== 'link';
  if (step.kind !== 'write-file') return false;
  const file = found.get(step.path);
  return file?.kind === 'file' && file.text === step.content && file.mode === step.mode;
}

function isNew({ found }: Machine, { path, text }: ServiceFile): boolean {
  const file = found.get(path);
  return file?.kind !== 'file' || file.text !== text;
}

function kernelSteps({ unloadedModules, sysctls }: Machine, role: Role): readonly Step[] {
  if (!runsPods(role)) return [];
  const load: readonly Step[] =
    unloadedModules.length === 0 ? [] : [{ kind: 'load-modules', names: unloadedModules }];
  return [...load, ...lowSysctls(sysctls).map((each): Step => ({ kind: 'set-sysctl', ...each }))];
}

function linkSteps({ found }: Machine, { linksKubectl }: InstallRequest): readonly Step[] {
  if (!linksKubectl) return [];
  const there = found.get(kubectlPath);
  if (there?.kind === 'link' && there.target === executablePath) return [];
  if (there) throw new Error(`${kubectlPath} exists already: leave out --link-kubectl, or move it away`);
  return [{ kind: 'make-link', path: kubectlPath, target: executablePath }];
}

interface Changes {
  readonly digest: string;
  readonly isUnitNew: boolean;
  /** True if a file is written: the service may run with another one. */
  readonly isChanged: boolean;
}

function serviceSteps(
  machine: Machine,
  { starts }: InstallRequest,
  manager: ServiceManager,
  { digest, isUnitNew, isChanged }: Changes,
): readonly Step[] {
  const isCurrent = machine.serviceState === 'active' && machine.installed?.started === digest && !isChanged;
  const restarts = starts && !isCurrent;
  const steps: Step[] = [];
  // The unit may have been written by an installation that was interrupted before systemd read it.
  if (manager === 'systemd' && (isUnitNew || restarts)) steps.push({ kind: 'reload-services' });
  if (!machine.isServiceEnabled) steps.push({ kind: 'enable-service', manager });
  if (restarts) steps.push({ kind: 'restart-service', manager });
  return steps;
}

/**
 * Returns the record of this installation and of the earlier ones on this machine. `adopted` are the files of
 * an earlier installation, whose record may be lost.
 */
function recordOf(
  machine: Machine,
  request: InstallRequest,
  steps: readonly Step[],
  adopted: readonly string[],
): Installed {
  const { installed, found, sysctls } = machine;
  const created = steps.flatMap((step) => ('path' in step && !found.has(step.path) ? [step.path] : []));
  return {
    role: request.role,
    dataDir: request.dataDir,
    dockerSocket: request.dockerSocket,
    created: [...new Set([...(installed?.created ?? []), ...adopted, ...created])],
    before: { ...filesBefore(machine, steps), ...installed?.before },
    sysctls: { ...sysctlsBefore(sysctls, steps), ...installed?.sysctls },
    packages: [...new Set([...(installed?.packages ?? []), ...packagesOf(steps)])],
    ...(installed?.started !== undefined && { started: installed.started }),
  };
}

/** Returns the files that the steps replace and that no earlier installation created. */
function filesBefore({ found, installed }: Machine, steps: readonly Step[]): Installed['before'] {
  const files: Record<string, EarlierFile> = {};
  for (const step of steps) {
    if (step.kind !== 'write-file' || installed?.created.includes(step.path)) continue;
    const file = found.get(step.path);
    if (file?.kind !== 'file' || isMarked(file)) continue;
    const { text, mode } = file;
    if (text !== undefined) files[step.path] = { text, mode };
  }
  return files;
}

const sysctlsBefore = (current: ReadonlyMap<string, string>, steps: readonly Step[]) =>
  Object.fromEntries(
    steps.flatMap((step) => {
      const before = step.kind === 'set-sysctl' ? current.get(step.name) : undefined;
      const isRecorded = step.kind === 'set-sysctl' && isRestored(step.name) && before !== undefined;
      return isRecorded ? [[step.name, before]] : [];
    }),
  );

const packagesOf = (steps: readonly Step[]) =>
  steps.flatMap((step) => (step.kind === 'install-packages' ? step.names : []));

/** Returns the step that stores the record. */
export const recordStep = (installed: Installed): Extract<Step, { kind: 'write-file' }> => ({
  kind: 'write-file',
  path: recordFile,
  content: formatInstalled(installed),
  mode: 0o600,
});

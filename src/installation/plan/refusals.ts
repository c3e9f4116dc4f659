/** Conditions that prevent an installation. Each ends it with one line that says what to do. */
import type { Installed } from './installed.ts';
import type { Found, Machine } from './machine.ts';
import { type Role, runsPods, usualDockerSocket } from './role.ts';
import type { ServiceManager } from './service-manager.ts';

/** Returns the service manager of the machine. Throws if it is another one. */
export function serviceManagerIn({ serviceManager }: Pick<Machine, 'serviceManager'>): ServiceManager {
  if (serviceManager !== undefined) return serviceManager;
  throw new Error(
    'neither systemd nor OpenRC runs this machine, and minik8s install supports no other service manager: ' +
      'let yours run minik8s up, minik8s master or minik8s node as root at every boot',
  );
}

/** Throws if the machine is installed in another role, or with other places than the wanted ones. */
export function requireSameInstallation(
  { installed }: Pick<Machine, 'installed'>,
  wanted: Pick<Installed, 'role' | 'dataDir' | 'dockerSocket'>,
): void {
  if (installed === undefined) return;
  if (installed.role !== wanted.role)
    throw new Error(
      `this machine is installed as ${installed.role}: run minik8s uninstall first, which removes its pods and its data`,
    );
  if (installed.dataDir !== wanted.dataDir)
    throw new Error(
      `this machine is installed with data in ${installed.dataDir}: run minik8s uninstall first, or keep it (--data-dir ${installed.dataDir})`,
    );
  if (installed.dockerSocket !== wanted.dockerSocket)
    throw new Error(
      `this machine is installed with the Docker engine at ${installed.dockerSocket}: run minik8s uninstall first, or keep it (--docker-socket ${installed.dockerSocket})`,
    );
}

/** Throws if no engine answers at a socket that the user has chosen: the packages' engine has another one. */
export function requireChosenDocker(
  { docker }: Pick<Machine, 'docker'>,
  { role, dockerSocket }: { readonly role: Role; readonly dockerSocket: string },
): void {
  if (!runsPods(role) || docker === 'answers' || dockerSocket === usualDockerSocket) return;
  throw new Error(
    `no Docker engine answers at ${dockerSocket}: start it, or leave out --docker-socket to use the one at ${usualDockerSocket}`,
  );
}

/** Throws if the configuration file is not a regular file: the installation would replace a link. */
export function requirePlain(found: ReadonlyMap<string, Found>, path: string): void {
  const entry = found.get(path);
  if (entry === undefined || entry.kind === 'file') return;
  const what = entry.kind === 'link' ? `a symbolic link to ${entry.target}` : 'not a regular file';
  throw new Error(`${path} is ${what}: move it away, and give its settings with --config FILE`);
}

/** Beginning of each file that only an installation writes; a script has its interpreter before it. */
const ownMark = /^(?:#!.*\n)?# Written by minik8s install/;

/** Throws if a file that the installation writes exists and was not created by an installation. */
export function requireOwn({ found, installed }: Pick<Machine, 'found' | 'installed'>, path: string): void {
  const entry = found.get(path);
  if (entry === undefined || installed?.created.includes(path) || isMarked(entry)) return;
  throw new Error(`${path} exists and was not written by minik8s install: move it away`);
}

/** Returns true for a file that an installation has written, even if the record of it is lost. */
export const isMarked = (entry: Found): boolean =>
  entry.kind === 'file' && entry.text !== undefined && ownMark.test(entry.text);

/**
 * Throws if a process that was started by hand uses the data directory. A service in any state of a start or
 * a stop has a process of its own. `holder` is the process id, if there is one.
 */
export function requireNoOther(
  holder: number | undefined,
  { serviceState }: Pick<Machine, 'serviceState'>,
): void {
  if (holder === undefined || (serviceState !== 'inactive' && serviceState !== 'failed')) return;
  throw new Error(
    `minik8s runs as process ${holder}, started by hand; stop it first (kill ${holder}): its pods keep running, and the service takes them over`,
  );
}

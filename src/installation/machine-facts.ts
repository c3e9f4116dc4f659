/** Reads what an installation finds on the machine. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Exec, ExecError } from '../os/exec.ts';
import { ifThere } from '../os/if-there.ts';
import { isDraft } from '../os/replace-file.ts';
import {
  completionDirectory,
  completionPath,
  configDirectory,
  executablePath,
  kubectlPath,
  servicePathOf,
} from './plan/install-plan.ts';
import { type Installed, parseInstalled, recordFile } from './plan/installed.ts';
import { kernelDirectories, modules, modulesFile, sysctlFile, sysctls } from './plan/kernel.ts';
import type { Found, Machine } from './plan/machine.ts';
import { logDirectory } from './plan/openrc-script.ts';
import { type NodeProgram, nodePrograms, type PackageManager } from './plan/packages.ts';
import { configFileOf, type Role } from './plan/role.ts';
import { controlOf, serviceManagerHere } from './services.ts';

/** Maximum size in bytes of a file whose text is read. */
const maxTextBytes = 256 * 1024;

export interface FactSources {
  readonly exec: Exec;
  /** Resolves to true if a Docker engine answers at its socket. */
  readonly isDockerThere: () => Promise<boolean>;
}

/** Reads the facts that the plan for a role needs. Rejects if the record of an installation is unreadable. */
export async function readMachine({ exec, isDockerThere }: FactSources, role: Role): Promise<Machine> {
  const [docker, lackingPrograms, packageManager] = await Promise.all([
    dockerState(exec, isDockerThere),
    lackingIn(exec),
    packageManagerOf(exec),
  ]);
  const serviceManager = serviceManagerHere();
  const control = serviceManager && controlOf(serviceManager);
  return {
    serviceManager,
    packageManager,
    lackingPrograms,
    docker,
    found: await lookAtAll(role),
    missingDirectories: kernelDirectories.filter((path) => !existsSync(path)),
    executableDigest: await digestOfFile(executablePath),
    sysctls: await readSysctls(),
    unloadedModules: await unloaded(),
    serviceState: (await control?.state(exec)) ?? 'inactive',
    isServiceEnabled: (await control?.isEnabled(exec)) ?? false,
    installed: await readInstalled(),
  };
}

/** Reads the record of the installation of this machine; resolves to undefined if there is none. */
export async function readInstalled(): Promise<Installed | undefined> {
  const text = await ifThere(readFile(recordFile, 'utf8'));
  if (text === undefined) return undefined;
  try {
    return parseInstalled(text);
  } catch (error) {
    throw new Error(
      `${recordFile}, the record of minik8s install, cannot be read (${(error as Error).message}): restore it, or remove it and install again`,
    );
  }
}

/** Resolves to what exists at the paths that installations create, or an installation has created. */
export async function lookAtAll(
  role: Role,
  more: readonly string[] = [],
): Promise<ReadonlyMap<string, Found>> {
  const paths = [
    executablePath,
    configFileOf[role],
    configDirectory,
    ...Object.values(servicePathOf),
    logDirectory,
    kubectlPath,
    completionDirectory,
    completionPath,
    modulesFile.path,
    sysctlFile.path,
    ...more,
  ];
  const found = new Map<string, Found>();
  for (const path of paths) {
    const entry = await lookAt(path);
    if (entry) found.set(path, entry);
  }
  return found;
}

async function lookAt(path: string): Promise<Found | undefined> {
  const stats = await ifThere(lstat(path));
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return { kind: 'link', target: await readlink(path) };
  if (stats.isDirectory() && (await readdir(path)).every(isDraft)) return { kind: 'empty-directory' };
  if (!stats.isFile()) return { kind: 'other' };
  const text = stats.size <= maxTextBytes ? await readFile(path, 'utf8') : undefined;
  return { kind: 'file', text, mode: stats.mode & 0o777 };
}

/** Resolves to the SHA-256 digest of a file in hexadecimal digits, or to undefined if there is no file. */
export async function digestOfFile(path: string): Promise<string | undefined> {
  const hash = createHash('sha256');
  const done = await ifThere(pipeline(createReadStream(path), hash).then(() => true));
  return done ? hash.digest('hex') : undefined;
}

/** Returns the SHA-256 digest of a text in hexadecimal digits. */
export const digestOfText = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Reads kernel parameters; one that the kernel does not have is absent. */
export async function readSysctls(names = Object.keys(sysctls)): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  for (const name of names) {
    const text = await ifThere(readFile(join('/proc/sys', name.replaceAll('.', '/')), 'utf8'));
    if (text !== undefined) values.set(name, text.trim());
  }
  return values;
}

/** A module that is loaded, or part of the kernel with a parameter, has a directory in /sys/module. */
async function unloaded(): Promise<readonly string[]> {
  const states = await Promise.all(modules.map((name) => lookAt(`/sys/module/${name}`)));
  return modules.filter((_, index) => states[index] === undefined);
}

async function dockerState(exec: Exec, isDockerThere: () => Promise<boolean>): Promise<Machine['docker']> {
  if (await isDockerThere()) return 'answers';
  return (await isProgram(exec, 'dockerd')) ? 'installed' : 'missing';
}

async function lackingIn(exec: Exec): Promise<readonly NodeProgram[]> {
  const enabled = await ifThere(readFile('/sys/module/apparmor/parameters/enabled', 'utf8'));
  const needed = nodePrograms.filter((program) => program !== 'apparmor_parser' || enabled?.trim() === 'Y');
  const there = await Promise.all(needed.map((program) => isProgram(exec, program)));
  return needed.filter((_, index) => !there[index]);
}

export async function packageManagerOf(exec: Exec): Promise<PackageManager | undefined> {
  if (await isProgram(exec, 'apt-get')) return 'apt';
  return (await isProgram(exec, 'dnf')) ? 'dnf' : undefined;
}

/** Resolves to false only if the program is not installed; its exit status does not matter. */
export async function isProgram(exec: Exec, program: string): Promise<boolean> {
  try {
    await exec(program, ['--version']);
    return true;
  } catch (error) {
    if (error instanceof ExecError) return error.failure.code !== undefined;
    throw error;
  }
}

/**
 * The kubeconfig of the user who has installed minik8s by sudo. It contains a certificate for this user, with
 * the rights of an administrator.
 */
import { lstat, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorMessage } from '../../base/log.ts';
import { runInstalled } from '../../installation/carry-out.ts';
import type { Exec } from '../../os/exec.ts';
import { draftOf } from '../../os/replace-file.ts';

interface Person {
  readonly name: string;
  readonly home: string;
}

export interface CallerSources {
  readonly exec: Exec;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly adminConf: string;
  readonly host: string;
  readonly warn: (message: string) => void;
}

/**
 * Gives the user who called sudo a kubeconfig. Resolves to the user's name and the path, or to undefined
 * if there is no such user or no free path. Warns of an error: the installation itself is complete.
 */
export async function giveCallerKubeconfig({
  exec,
  environment,
  warn,
  ...cluster
}: CallerSources): Promise<{ readonly name: string; readonly path: string } | undefined> {
  const { SUDO_USER: name } = environment;
  try {
    const caller = await callerOf(exec, environment);
    const path = caller && (await writeUserKubeconfig(exec, caller, cluster));
    return caller && path !== undefined ? { name: caller.name, path } : undefined;
  } catch (error) {
    warn(
      `no kubeconfig for ${name} (${errorMessage(error)}); minik8s user create makes one with --kubeconfig ${cluster.adminConf}`,
    );
    return undefined;
  }
}

/** Resolves to the user who called sudo; to undefined if there is none. */
async function callerOf(
  exec: Exec,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Person | undefined> {
  const { SUDO_USER: name, SUDO_UID: uid } = environment;
  if (!name || !uid || uid === '0') return undefined;
  const { stdout } = await exec('getent', ['passwd', '--', name]);
  const home = stdout.trim().split(':')[5];
  return home ? { name, home } : undefined;
}

/**
 * Writes the kubeconfig to ~/.kube/config, or to ~/.kube/minik8s.conf if ~/.kube/config exists. The name of
 * the cluster's user is `NAME@HOST`. Resolves to the path, or to undefined if both exist.
 */
async function writeUserKubeconfig(
  exec: Exec,
  { name, home }: Person,
  { adminConf, host }: { readonly adminConf: string; readonly host: string },
): Promise<string | undefined> {
  const paths = [join(home, '.kube/config'), join(home, '.kube/minik8s.conf')];
  const path = await firstFree(paths);
  if (path === undefined) return undefined;
  // The name of a draft: reset removes one that was left.
  const draft = draftOf(adminConf);
  // The name has the host name in it: another user of the cluster may have the bare name, and would become an
  // administrator.
  const create = ['user', 'create', `${name}@${host}`, '--role', 'cluster-admin', '--file', draft];
  try {
    await runInstalled(exec, [...create, '--kubeconfig', adminConf]);
    // A process of the user writes the file, since the home directory may contain links to other files.
    const script = 'umask 077; mkdir -p "$1" && set -C && cat >"$2"';
    const input = await readFile(draft);
    await exec('runuser', ['-u', name, '--', 'sh', '-c', script, 'sh', dirname(path), path], { input });
  } finally {
    await rm(draft, { force: true });
  }
  return path;
}

async function firstFree(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isThere = await lstat(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    );
    if (!isThere) return path;
  }
  return undefined;
}

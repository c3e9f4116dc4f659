/** Finds the kubeconfig that a command uses. */
import { join } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { type Kubeconfig, loadKubeconfig } from '../../client/kubeconfig.ts';
import type { Io } from '../io.ts';

function listedFiles({ env }: Pick<Io, 'env'>): string[] {
  return (env.KUBECONFIG ?? '').split(':').filter((file) => file !== '');
}

function missing(files: readonly string[]): string {
  const what = files.length === 1 ? `${files[0]} does not exist` : `none of ${files.join(', ')} exists`;
  return `$KUBECONFIG: ${what}; correct it, or unset KUBECONFIG to use the default places`;
}

/** Returns the files to read for each place, in order of precedence. Any of them may be missing. */
export function kubeconfigFiles(
  io: Pick<Io, 'env' | 'homeDirectory'>,
  given: string | undefined,
): string[][] {
  if (given !== undefined) return [[given]];
  const listed = listedFiles(io);
  const dataDirectory = io.env.MINIK8S_DATA_DIR || '/var/lib/minik8s';
  return [
    ...(listed.length > 0 ? [listed] : []),
    [join(io.homeDirectory, '.kube/config')],
    [join(dataDirectory, 'admin.conf')],
  ];
}

/**
 * Returns the configuration of the first place that has one. Throws UsageError if none has, or if no file of
 * $KUBECONFIG exists: a command must not use another cluster than the one that the user named.
 */
export function findKubeconfig(io: Pick<Io, 'env' | 'homeDirectory'>, given: string | undefined): Kubeconfig {
  const places = kubeconfigFiles(io, given);
  const named = given !== undefined || listedFiles(io).length > 0;
  for (const files of places) {
    const config = loadKubeconfig(files);
    if (config && (Object.keys(config.contexts).length > 0 || named)) return config;
    if (named && given === undefined) throw new UsageError(missing(files));
  }
  throw new UsageError(
    given !== undefined
      ? `kubeconfig ${given} does not exist`
      : `no kubeconfig found (looked at ${places.flat().join(', ')}): name one with --kubeconfig or $KUBECONFIG, ` +
          'or start a cluster on this machine with minik8s up',
  );
}

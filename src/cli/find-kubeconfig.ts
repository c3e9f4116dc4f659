/** Which kubeconfig a command uses. */
import { join } from 'node:path';
import { UsageError } from '../base/usage-error.ts';
import { type Kubeconfig, loadKubeconfig } from '../client/kubeconfig.ts';
import type { Io } from './io.ts';

/** The files that are read, first to last; those that do not exist are passed over. */
export function kubeconfigFiles(
  io: Pick<Io, 'env' | 'homeDirectory'>,
  given: string | undefined,
): string[][] {
  if (given !== undefined) return [[given]];
  const listed = (io.env.KUBECONFIG ?? '').split(':').filter((file) => file !== '');
  const dataDirectory = io.env.MINIK8S_DATA_DIR || '/var/lib/minik8s';
  return [
    ...(listed.length > 0 ? [listed] : []),
    [join(io.homeDirectory, '.kube/config')],
    [join(dataDirectory, 'admin.conf')],
  ];
}

/** The configuration of the first place that has one. Throws UsageError when none has. */
export function findKubeconfig(io: Pick<Io, 'env' | 'homeDirectory'>, given: string | undefined): Kubeconfig {
  const places = kubeconfigFiles(io, given);
  for (const files of places) {
    const config = loadKubeconfig(files);
    if (config && (Object.keys(config.contexts).length > 0 || given !== undefined)) return config;
  }
  throw new UsageError(
    given !== undefined
      ? `kubeconfig ${given} does not exist`
      : `no kubeconfig found (looked at ${places.flat().join(', ')}): name one with --kubeconfig or $KUBECONFIG`,
  );
}

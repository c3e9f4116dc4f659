/** The path of the file kuberc. */
import { join } from 'node:path';
import type { Io } from '../io.ts';

/** Returns the file that --kuberc or $KUBERC names; default: ~/.kube/kuberc. */
export const kubercFile = (
  { env, homeDirectory }: Pick<Io, 'env' | 'homeDirectory'>,
  named: string | undefined,
): string => named || env.KUBERC || join(homeDirectory, '.kube', 'kuberc');

/** The administrator's way in: `<data-dir>/admin.conf`, readable by its owner alone. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatKubeconfig, singleKubeconfig } from '../client/kubeconfig.ts';
import type { Credentials } from '../pki/credentials.ts';
import type { Settings } from './settings.ts';

export interface AdminKubeconfigOptions {
  readonly settings: Settings<'data-dir'>;
  readonly credentials: Credentials;
  readonly server: string;
}

/** Writes the file in one step and resolves to its path. */
export async function writeAdminKubeconfig({
  settings,
  credentials,
  server,
}: AdminKubeconfigOptions): Promise<string> {
  const admin = await credentials.leaf({
    file: 'admin',
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    usages: ['client'],
  });
  const text = formatKubeconfig(
    singleKubeconfig('minik8s', {
      server,
      ca: credentials.authority.certificate,
      cert: admin.certificate,
      key: admin.key,
    }),
  );
  const path = join(settings['data-dir'], 'admin.conf');
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return path;
}

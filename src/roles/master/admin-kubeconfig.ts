/** The administrator's kubeconfig: `<data-dir>/admin.conf`, readable by its owner alone. */
import { join } from 'node:path';
import type { Current } from '../../base/current.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { formatKubeconfig } from '../../client/kubeconfig.ts';
import { singleKubeconfig } from '../../client/kubeconfig-connection.ts';
import { replaceFile } from '../../os/replace-file.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import type { CertificateManager } from '../certificate-manager.ts';
import type { Settings } from '../settings/setting-table.ts';

export interface AdminKubeconfigOptions {
  readonly settings: Settings<'data-dir'>;
  readonly certificateManager: CertificateManager;
  /** PEM of the cluster's authorities. */
  readonly authority: Current<string>;
  readonly server: string;
  readonly log: Logger;
}

export interface AdminKubeconfig {
  readonly path: string;
  readonly identity: Current<KeyAndCertificate>;
}

/** Writes the file now, and whenever its certificate or an authority changes. */
export async function writeAdminKubeconfig(options: AdminKubeconfigOptions): Promise<AdminKubeconfig> {
  const path = join(options.settings['data-dir'], 'admin.conf');
  const admin = await options.certificateManager.leaf({
    file: 'admin',
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    usages: ['client'],
  });
  await write(path, options, admin.value);
  const renew = () => {
    write(path, options, admin.value).catch((error) =>
      options.log.error('the kubeconfig could not be written', { path, error: errorMessage(error) }),
    );
  };
  admin.onChange(renew);
  options.authority.onChange(renew);
  return { path, identity: admin };
}

/** Replaces the file atomically: a reader sees either the old file or the new one. */
async function write(
  path: string,
  { authority, server }: AdminKubeconfigOptions,
  { key, certificate }: KeyAndCertificate,
): Promise<void> {
  const text = formatKubeconfig(
    singleKubeconfig('minik8s', { server, ca: authority.value, cert: certificate, key }),
  );
  await replaceFile(path, text, { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EISDIR') throw error;
    throw new Error(`${path} is a directory: move it away, and start minik8s again`);
  });
}

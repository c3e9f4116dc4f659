/** The certificates that the API server presents to its clients and to the agents it calls. */
import { hostname } from 'node:os';
import { apiServiceIP } from '../../kube-apiserver/bootstrap.ts';
import type { CertificateManager } from '../certificate-manager.ts';
import { isEveryAddress } from '../host-address.ts';
import type { Settings } from '../settings/setting-table.ts';

export interface ServingCertificateOptions {
  readonly settings: Settings<'service-cidr' | 'bind-address' | 'cluster-domain'>;
  readonly certificateManager: CertificateManager;
  /** The address under which nodes and pods reach this server. */
  readonly advertiseAddress: string;
  /** IPv6 addresses of this machine, at which the server listens too. */
  readonly addresses6: readonly string[];
}

/** Returns the names and addresses under which clients reach the API server. */
export function servingHosts({
  settings,
  advertiseAddress,
  addresses6,
}: Omit<ServingCertificateOptions, 'certificateManager'>): readonly string[] {
  const names = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${settings['cluster-domain']}`,
  ];
  const bind = settings['bind-address'];
  const addresses = ['127.0.0.1', apiServiceIP(settings['service-cidr']), advertiseAddress];
  const own = bind === '::' ? ['::1', ...addresses6] : isEveryAddress(bind) ? [] : [bind];
  return [...new Set([...names, 'localhost', hostname(), ...addresses, ...own])];
}

export async function servingCertificates({ certificateManager, ...options }: ServingCertificateOptions) {
  const [serving, kubeletClient] = await Promise.all([
    certificateManager.leaf({
      file: 'apiserver',
      commonName: 'kube-apiserver',
      changesLast: true,
      hosts: [...servingHosts(options)],
      usages: ['server'],
    }),
    certificateManager.leaf({
      file: 'apiserver-kubelet-client',
      commonName: 'kube-apiserver-kubelet-client',
      organizations: ['system:masters'],
      usages: ['client'],
    }),
  ]);
  return { serving, kubeletClient };
}

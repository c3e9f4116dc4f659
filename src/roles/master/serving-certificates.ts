/** The certificates that the API server presents to its clients and to the agents it calls. */
import { hostname } from 'node:os';
import { apiServiceIP } from '../../kube-apiserver/bootstrap.ts';
import type { CertificateManager } from '../certificate-manager.ts';
import type { Settings } from '../settings/setting-table.ts';

export interface ServingCertificateOptions {
  readonly settings: Settings<'service-cidr' | 'bind-address' | 'cluster-domain'>;
  readonly certificateManager: CertificateManager;
  /** The address under which nodes and pods reach this server. */
  readonly advertiseAddress: string;
}

export async function servingCertificates({
  certificateManager,
  settings,
  advertiseAddress,
}: ServingCertificateOptions) {
  const firstServiceIP = apiServiceIP(settings['service-cidr']);
  const names = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${settings['cluster-domain']}`,
  ];
  const hosts = new Set([...names, 'localhost', hostname(), '127.0.0.1', firstServiceIP, advertiseAddress]);
  if (settings['bind-address'] !== '0.0.0.0') hosts.add(settings['bind-address']);
  const [serving, kubeletClient] = await Promise.all([
    certificateManager.leaf({
      file: 'apiserver',
      commonName: 'kube-apiserver',
      changesLast: true,
      hosts: [...hosts],
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

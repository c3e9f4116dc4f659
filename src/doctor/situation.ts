/** Circumstances that decide what is expected of a machine. Pure. */
import type { PackageManager } from '../installation/plan/packages.ts';

export interface Situation {
  /** Roles that this machine has or is configured for; both if that is not known. */
  readonly hasMaster: boolean;
  readonly hasNode: boolean;
  /** Process id of the minik8s that holds the data directory; absent if none runs. */
  readonly pid?: number;
  readonly packageManager?: PackageManager;
  readonly dataDir: string;
  readonly dockerSocket: string;
  readonly port: number;
  readonly kubeletPort: number;
  readonly bindAddress: string;
  /** Range of all pods; one of each family, separated by a comma, in a cluster of two. */
  readonly clusterCIDR: string;
  /** Range of Services, in the same form. */
  readonly serviceCIDR: string;
  readonly clusterDNS: string;
  readonly clusterDomain: string;
  /** Ports of the web server for Ingresses and Gateways; none if this node does not serve them. */
  readonly webPorts: readonly { readonly port: number; readonly flag: '--http-port' | '--https-port' }[];
  readonly overlay: 'vxlan' | 'host-routes';
  /** Address of the node; absent if it is not known. */
  readonly nodeIP?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Command that starts minik8s again on this machine. */
  readonly restart: string;
}

/** Every controller of the control plane; a new one is one file and one line here. */
import type { ReadCertificateRequest, SignCertificateRequest } from '../base/certificate-request.ts';
import type { ControllerFactory } from '../controller-runtime/definition.ts';
import { csrApproving } from './csr-approving.ts';
import type { NodeApproval } from './csr-approving-plan.ts';
import { csrCleaner } from './csr-cleaner.ts';
import { csrSigning } from './csr-signing.ts';
import { deploymentController } from './deployment.ts';
import { dnsController } from './dns.ts';
import { endpointsController } from './endpoints.ts';
import { endpointSliceController } from './endpointslice.ts';
import { endpointSliceMirroringController } from './endpointslicemirroring.ts';
import { garbageCollector } from './garbage-collector.ts';
import { namespaceController } from './namespace.ts';
import { nodeIpam } from './node-ipam.ts';
import { nodeLifecycle } from './node-lifecycle.ts';
import { podGcController } from './pod-gc.ts';
import { replicaSetController } from './replicaset.ts';
import { rootCaPublisher } from './root-ca-publisher.ts';
import { serviceAccountController } from './service-account.ts';
import { taintEvictionController } from './taint-eviction.ts';
import { tokenCleaner } from './token-cleaner.ts';

export interface ControllersOptions {
  /** The range of all pods, such as 10.244.0.0/16. */
  readonly clusterCidr: string;
  /** The range of all Services, such as 10.96.0.0/16. */
  readonly serviceCidr: string;
  /** Such as `cluster.local`. */
  readonly clusterDomain: string;
  /** Milliseconds of silence after which a node is lost; default 40 s. */
  readonly nodeGracePeriodMs?: number;
  /** Whether machines with a bootstrap token join at once. */
  readonly nodeApproval: NodeApproval;
  readonly certificates: {
    readonly read: ReadCertificateRequest;
    readonly sign: SignCertificateRequest;
    /** The certificate of the cluster's authority, in PEM. */
    readonly authority: string;
  };
}

export const controllers = (options: ControllersOptions): readonly ControllerFactory[] => [
  deploymentController,
  replicaSetController,
  endpointSliceController,
  endpointsController,
  endpointSliceMirroringController,
  dnsController(options),
  namespaceController,
  garbageCollector,
  nodeIpam(options),
  nodeLifecycle({ gracePeriodMs: options.nodeGracePeriodMs }),
  taintEvictionController,
  podGcController,
  csrApproving({ ...options, approval: options.nodeApproval, read: options.certificates.read }),
  csrSigning(options.certificates),
  csrCleaner,
  tokenCleaner,
  serviceAccountController,
  rootCaPublisher(options.certificates.authority),
];

/** Every controller of the control plane; a new one is one file and one line here. */
import type { SignSecretToken } from '../base/account-token.ts';
import type { ReadCertificateRequest, SignCertificateRequest } from '../base/certificate-request.ts';
import type { ControllerFactory } from '../controller-runtime/definition.ts';
import { csrApproving } from './certificates/csr-approving.ts';
import type { NodeApproval } from './certificates/csr-approving-plan.ts';
import { csrCleaner } from './certificates/csr-cleaner.ts';
import { csrSigning } from './certificates/csr-signing.ts';
import { rootCaPublisher } from './certificates/root-ca-publisher.ts';
import { tokenCleaner } from './certificates/token-cleaner.ts';
import { garbageCollector } from './garbage/garbage-collector.ts';
import { podGcController } from './garbage/pod-gc.ts';
import { namespaceController } from './namespaces/namespace.ts';
import { serviceAccountController } from './namespaces/service-account.ts';
import { tokenSecrets } from './namespaces/token-secrets.ts';
import { nodeIpam } from './nodes/node-ipam.ts';
import { nodeLifecycle } from './nodes/node-lifecycle.ts';
import { taintEvictionController } from './nodes/taint-eviction.ts';
import { dnsController } from './services/dns.ts';
import { endpointsController } from './services/endpoints.ts';
import { endpointSliceController } from './services/endpointslice.ts';
import { endpointSliceMirroringController } from './services/endpointslicemirroring.ts';
import { deploymentController } from './workloads/deployment.ts';
import { replicaSetController } from './workloads/replicaset.ts';

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
  readonly signSecretToken: SignSecretToken;
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
  tokenSecrets({ authority: options.certificates.authority, sign: options.signSecretToken }),
];

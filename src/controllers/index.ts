/** Every controller of the control plane; a new one is one file and one line here. */
import type { ControllerFactory } from '../controller-runtime/definition.ts';
import { deploymentController } from './deployment.ts';
import { endpointSliceController } from './endpointslice.ts';
import { garbageCollector } from './garbage-collector.ts';
import { namespaceController } from './namespace.ts';
import { nodeIpam } from './node-ipam.ts';
import { podGcController } from './pod-gc.ts';
import { replicaSetController } from './replicaset.ts';

export interface ControllersOptions {
  /** The range of all pods, such as 10.244.0.0/16. */
  readonly clusterCidr: string;
}

export const controllers = (options: ControllersOptions): readonly ControllerFactory[] => [
  deploymentController,
  replicaSetController,
  endpointSliceController,
  namespaceController,
  garbageCollector,
  nodeIpam(options),
  podGcController,
];
